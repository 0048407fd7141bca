# SPDX-License-Identifier: GPL-2.0
# libpeer.pl OPERATION...: one end of AF_SDP connections, as told: the operations are carried
# out in turn, and what comes of them is printed, a line each. The first one that fails
# prints "OPERATION: ERRNO" and ends the program with status 3.
#
#	bind ADDRESS PORT	listen BACKLOG
#	accept		and go on with the new connection; what came before stays open
#	connect ADDRESS PORT	shutdown		close
#	send N		N bytes of a pattern that recv knows
#	flow		send until it fails
#	flow-until FILE	send at leisure until FILE exists; prints "sent N"
#	fill		send until there is no room for a while, reading nothing
#	recv N		exactly N bytes of the pattern, checked; prints "received N"
#	drain		all there is until the end, checked; prints "end after N bytes"
#	ended		waits for the end of a connection on which nothing comes; prints "ended"
#	say TEXT	prints TEXT
#	wait FILE	until FILE exists
#	fork N		N processes go on from here; this one waits for them and ends
#	option LEVEL NAME VALUE	an option that is an int, in numbers; a listener hands it on
#	open		a socket, which otherwise comes with the first use
#	hold		until killed
#
# A process that would hang is killed after PEER_SECONDS (100). It has a process group of
# its own, with what it forks.
use strict;
use warnings;
use Errno;
use Socket;

use constant AF_SDP => 27;
use constant CHUNK => 16384;
use constant LIMIT => $ENV{PEER_SECONDS} || 100;

my ($s, $listener, @earlier);
my ($sent, $got) = (0, 0);
# Any 251 bytes in a row tell where in the stream they are.
my $pattern = pack('C*', map { ($_ * 7 + 3) % 251 } 0 .. 250) x (CHUNK / 251 + 3);

sub expected { my ($at, $n) = @_; return substr($pattern, $at % 251, $n); }

sub failed {
	my $what = shift;
	my ($name) = grep { $!{$_} && $_ ne 'EWOULDBLOCK' } sort keys %!;
	print "$what: $name\n";
	exit 3;
}

sub address {
	my ($host, $port) = @_;
	return pack_sockaddr_in6($port, Socket::inet_pton(AF_INET6, $host)) if $host =~ /:/;
	return pack_sockaddr_in($port, Socket::inet_pton(AF_INET, $host));
}

sub make { defined $s or socket($s, AF_SDP, SOCK_STREAM, 0) or failed('socket'); }

# Sends up to $n bytes, returns how many went, or undef
sub send_piece {
	my ($n, $flags) = @_;
	$n = CHUNK if $n > CHUNK;
	my $done = send($s, expected($sent, $n), $flags);
	$sent += $done if defined $done;
	return $done;
}

# Receives up to $n bytes and checks them; returns how many, or undef
sub recv_piece {
	my $n = shift;
	$n = CHUNK if $n > CHUNK;
	my $data;
	return undef unless defined recv($s, $data, $n, 0);
	if ($data ne expected($got, length $data)) {
		print "recv: wrong data within " . length($data) . " bytes at $got\n";
		exit 3;
	}
	$got += length $data;
	return length $data;
}

# Poll events of the socket within so many seconds; an error alone counts for all.
sub ready {
	my ($reading, $writing, $seconds) = @_;
	my ($r, $w) = ('', '');
	vec($r, fileno($s), 1) = 1 if $reading;
	vec($w, fileno($s), 1) = 1 if $writing;
	return select($r, $w, undef, $seconds) > 0;
}

my %operations = (
	open => sub { make(); },
	option => sub {
		my ($level, $name, $value) = splice(@ARGV, 0, 3);
		make();
		setsockopt($s, $level, $name, pack('i', $value)) or failed('option');
	},
	bind => sub { make(); bind($s, address(shift @ARGV, shift @ARGV)) or failed('bind'); },
	listen => sub { listen($s, shift @ARGV) or failed('listen'); $listener = $s; },
	accept => sub {
		my $new;
		accept($new, $listener) or failed('accept');
		push @earlier, $s;
		($s, $sent, $got) = ($new, 0, 0);
		print "accepted\n";
	},
	connect => sub {
		make();
		my $where = address(shift @ARGV, shift @ARGV);
		connect($s, $where) or failed('connect');
		print "connected\n";
	},
	shutdown => sub { shutdown($s, 1) or failed('shutdown'); },
	close => sub { close $s or failed('close'); undef $s; },
	send => sub {
		my $n = shift @ARGV;
		while ($n > 0) {
			my $done = send_piece($n, 0) // failed('send');
			$n -= $done;
		}
	},
	flow => sub {
		defined send_piece(CHUNK, 0) or failed('flow');
		print "flowing\n";
		while (defined send_piece(CHUNK, 0)) { }
		failed('flow');
	},
	'flow-until' => sub {
		my $file = shift @ARGV;
		until (-e $file) {
			defined send_piece(CHUNK, 0) or failed('flow-until');
			select(undef, undef, undef, 0.05);
		}
		print "sent $sent\n";
	},
	fill => sub {
		do {
			while (defined send_piece(CHUNK, 0x40)) { }
			$!{EAGAIN} or failed('fill');
		} while (ready(0, 1, 0.2));
		print "filled\n";
	},
	recv => sub {
		my $n = shift @ARGV;
		my $left = $n;
		while ($left > 0) {
			my $done = recv_piece($left) // failed('recv');
			if (!$done) {
				print "recv: end, $left bytes missing\n";
				exit 3;
			}
			$left -= $done;
		}
		print "received $n\n";
	},
	drain => sub {
		my $n;
		while ($n = recv_piece(CHUNK)) { }
		defined $n or failed('drain');
		print "end after $got bytes\n";
	},
	ended => sub {
		my $data;
		defined recv($s, $data, 1, 0) or failed('ended');
		print length $data ? "ended: data came instead\n" : "ended\n";
		exit 3 if length $data;
	},
	say => sub { print shift(@ARGV), "\n"; },
	wait => sub { my $file = shift @ARGV; select(undef, undef, undef, 0.02) until -e $file; },
	fork => sub {
		my $n = shift @ARGV;
		for (1 .. $n) {
			my $pid = fork // failed('fork');
			next if $pid;
			alarm(LIMIT);
			return;
		}
		print "forked\n";
		while (wait() != -1) { }
		exit 0;
	},
	hold => sub { sleep 1000 while 1; },
);

$| = 1;
$SIG{PIPE} = 'IGNORE';
setpgrp(0, 0);
alarm(LIMIT);
while (defined(my $name = shift @ARGV)) {
	my $operation = $operations{$name} or die "no operation $name\n";
	$operation->();
}
