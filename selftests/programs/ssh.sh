#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# OpenSSH: commands, and a file in both directions; sftp; rsync over ssh.
. "$(dirname "$0")/libprograms.sh"

make_file "$dir/file" 1
mkdir -p "$dir/tree/below" /run/sshd
for i in {1..15}; do
	head -c $((i * 1777)) "$dir/file" >"$dir/tree/below/$i"
done

keys() {
	ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
	ssh-keygen -q -t ed25519 -N '' -f "$dir/user"
	cp "$dir/user.pub" "$dir/authorized"
	cat >"$dir/sshd_config" <<-END
		HostKey $dir/host
		AuthorizedKeysFile $dir/authorized
		PidFile none
		StrictModes no
		PermitRootLogin prohibit-password
		PasswordAuthentication no
		UseDNS no
		UsePAM no
		# So that bash does not read the .bashrc of the user who runs this test.
		SetEnv SHLVL=2
		Subsystem sftp /usr/lib/openssh/sftp-server
	END
	cat >"$dir/ssh_config" <<-END
		IdentityFile $dir/user
		User root
		BatchMode yes
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
		KexAlgorithms curve25519-sha256
		# The key exchange is slow here: one for the first command, one for all others.
		ControlPath $dir/master-%p
		ControlPersist 30
	END
}

tree_sum() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2 | sha256sum); }

work() {
	local ssh="ssh -F $dir/ssh_config -p $port" begin
	rm -rf "$dir/up" "$dir/got" "$dir/copy"
	serve /usr/sbin/sshd -D -e -f "$dir/sshd_config" -p "$port" -o ListenAddress="$address"
	client "a command" $ssh "$address" 'echo $SSH_CONNECTION; exit 0'
	result "addresses: $(sed -E 's/ [0-9]{4,5}( |$)/ PORT\1/g' "$out")"
	begin=${EPOCHREALTIME/./}
	client "a file upwards" bash -c \
		"$ssh -o ControlMaster=yes $address 'cat >$dir/up' <$dir/file"
	figure "a file upwards, kB/s" $(((1 << 20) * 1000 / (${EPOCHREALTIME/./} - begin)))
	result "up: $(sum_of "$dir/up")"
	client "a file downwards" $ssh "$address" cat "$dir/file"
	result "down: $(sum_of "$out")"
	moved $((2 << 20))
	client "sftp" sftp -q -F "$dir/ssh_config" -P "$port" "$address:$dir/file" "$dir/got"
	result "sftp: $(sum_of "$dir/got")"
	moved $((1 << 20))
	client "rsync over ssh" rsync -a -e "$ssh" "$dir/tree/" "$address:$dir/copy/"
	result "rsync: $(tree_sum "$dir/copy")"
	client "a command that fails" bash -c "$ssh $address 'exit 7'; test \$? = 7"
	ssh -F "$dir/ssh_config" -p "$port" -O exit "$address" 2>/dev/null
	# Errors of sshd about options and addresses.
	result "log: $(grep -cE '^error|^fatal|setsockopt|getsockopt' "$dir/server.log")"
}

keys
each_case work
tap_done
