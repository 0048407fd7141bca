// SPDX-License-Identifier: GPL-2.0

// Work for Go sockets: net and net/http, server and client. It does not know SDP.
//
// 	work server ADDRESS PORT PORT2 FILE	net at the first port, net/http at the second;
// 						without an address, at all of both IP versions
// 	work net ADDRESS PORT			prints what must be the same with any sockets
// 	work http ADDRESS PORT2
// 	work dials ADDRESS PORT N		N connects at once, and the delays that they caused
//
// A connection to the server begins with one letter:
//
// 	h	the answer is a hash of the rest
// 	e	the rest is echoed
// 	f	the answer is FILE, by sendfile
// 	r	the rest is relayed to the server itself and back, by splice
package main

import (
	"fmt"
	"os"
	"strconv"
)

func fatal(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func need(is bool, format string, args ...any) {
	if !is {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
}

func main() {
	args := append(os.Args[1:], "", "", "", "", "")
	switch args[0] {
	case "server":
		serve(args[1], args[2], args[3], args[4])
	case "net":
		netClient(args[1], args[2])
	case "http":
		httpClient(args[1], args[2])
	case "dials":
		n, err := strconv.Atoi(args[3])
		fatal("number", err)
		dials(args[1], args[2], n)
	default:
		need(false, "what is %q?", args[0])
	}
}
