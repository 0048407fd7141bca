# SPDX-License-Identifier: GPL-2.0
# A usual connection, and checks after a disturbance of connection management.
# A part of lib.sh. The test has set $objects_before, by connection_counts, when there
# were no sockets.

# connects WHAT: a connection is established, and all data arrives
connects() {
	next_port
	peer server bind $SDP_B $port listen 5 say up accept recv 50000 send 50000 drain
	says server $patience up
	peer client connect $SDP_B $port send 50000 recv 50000 shutdown drain
	check "$1: connects" says client $((2 * patience)) connected
	check "$1: the client gets everything" says client $((2 * patience)) "end after 50000 bytes"
	check "$1: so does the server" says server $patience "end after 50000 bytes"
}

# all_ends WHAT COMMAND...: all sockets end in time despite the disturbance; COMMAND ends the
# disturbance; then nothing is left and connections work
all_ends() {
	local what=$1
	shift
	peers_end
	check "$what: the sockets end in time" wait_for $((2 * patience)) no_sockets
	"$@"
	check "$what: nothing is left" wait_for $((3 * patience)) connection_counts_are "$objects_before"
	check "$what: afterwards a connection works" transfer $SDP_B
	wait_for $patience no_sockets
}
