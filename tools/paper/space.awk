# SPDX-License-Identifier: GPL-2.0
# space.awk: how full the receiver's buffers were, from a trace of messages.
# The trace has the events sdp_msg_send and sdp_msg_recv, and sdp_ring where there is a ring. The
# result is in percent of -v space=BYTES: the mean over the time from the first message with data
# to the last one, at the end that sent most.
#
# The fill level is the sender's view: a message occupies its buffer until the receiver has granted
# that buffer again. With the credit scheme a message occupies one of -v buffers=N buffers. The sum
# of the acknowledged number and the posted receives is the newest message that has a buffer;
# messages that are at least N older than that have left theirs. For a ring, sdp_ring tells the
# bytes in use: as its writer knows it or, where the adapters control the flow, as its reader does.

function number(name,   at) {
	at = index($0, " " name "=")
	return at ? substr($0, at + length(name) + 2) + 0 : 0
}

function socket(   at, rest) {
	at = index($0, " sk=")
	rest = substr($0, at + 4)
	return substr(rest, 1, index(rest, " ") - 1)
}

# pass(): accounts the time up to now with the fill level of @sk.
function pass(sk, now) {
	if (sk in since && used[sk] > 0)
		sum[sk] += used[sk] * (now - since[sk])
	since[sk] = now
}

# freed(): the messages up to @last have left their buffers.
function freed(sk, last) {
	for (; oldest[sk] <= last; oldest[sk]++) {
		used[sk] -= payload[sk, oldest[sk]]
		delete payload[sk, oldest[sk]]
	}
}

function stamp(   i) {
	for (i = 3; i <= 6; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/)
			return substr($i, 1, length($i) - 1) + 0
	return 0
}

/ sdp_msg_send: / {
	sk = socket()
	bytes = number("len") - 16
	if (!index($0, " mid=0xff ") || bytes <= 0)
		next
	now = stamp()
	pass(sk, now)
	if (!(sk in first)) {
		first[sk] = now
		oldest[sk] = number("mseq")
	}
	final[sk] = now
	total[sk] += bytes
	payload[sk, number("mseq")] = bytes
	used[sk] += bytes
	at_final[sk] = sum[sk]
}

/ sdp_msg_recv: / {
	sk = socket()
	pass(sk, stamp())
	if (sk in first)
		freed(sk, number("ack") + number("bufs") - buffers)
}

# Rings: the sum over time of the bytes in use of the peer's and of the own ring.
/ sdp_ring: / {
	sk = socket()
	now = stamp()
	for (way = 0; way < 2; way++) {
		if ((sk, way) in ring_used)
			ring_sum[sk, way] += ring_used[sk, way] * (now - ring_since[sk])
		ring_used[sk, way] = number(way ? "in_used" : "out_used")
	}
	ring_since[sk] = now
}

END {
	for (ring in ring_sum)
		if (ring_sum[ring] > ring_most)
			ring_most = ring_sum[ring]
	for (sk in total)
		if (total[sk] > total[most])
			most = sk
	if (most == "" || final[most] <= first[most]) {
		print "0"
		exit
	}
	in_use = ring_most > 0 ? ring_most : at_final[most]
	printf "%.2f\n", 100 * in_use / (final[most] - first[most]) / space
}
