// SPDX-License-Identifier: GPL-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

const patience = 2 * time.Minute

// noise returns bytes that do not repeat, the same ones for the same seed.
func noise(seed int64, n int) []byte {
	data := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(data)
	return data
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func answer(conn *net.TCPConn, file string) error {
	command := make([]byte, 1)
	if _, err := io.ReadFull(conn, command); err != nil {
		return err
	}
	switch command[0] {
	case 'h':
		hash := sha256.New()
		if _, err := io.Copy(hash, conn); err != nil {
			return err
		}
		_, err := fmt.Fprintf(conn, "%x", hash.Sum(nil))
		return err
	case 'e':
		_, err := io.CopyBuffer(struct{ io.Writer }{conn}, struct{ io.Reader }{conn},
			make([]byte, 20000))
		return err
	case 'f':
		from, err := os.Open(file)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(conn, from)
		return err
	case 'r':
		return relay(conn)
	}
	return fmt.Errorf("command %q", command)
}

func relay(conn *net.TCPConn) error {
	other, err := net.Dial("tcp", conn.LocalAddr().String())
	if err != nil {
		return err
	}
	defer other.Close()
	end := make(chan error)
	go func() {
		_, err := io.Copy(other, conn)
		other.(*net.TCPConn).CloseWrite()
		end <- err
	}()
	if _, err = io.Copy(conn, other); err != nil {
		return err
	}
	return <-end
}

func serve(address, port, port2, file string) {
	go httpServe(net.JoinHostPort(address, port2), file)
	listener, err := net.Listen("tcp", net.JoinHostPort(address, port))
	fatal("listen", err)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		listener.Close()
	}()
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		fatal("accept", err)
		go func() {
			defer conn.Close()
			if err := answer(conn.(*net.TCPConn), file); err != nil {
				fmt.Fprintf(os.Stderr, "answer: %v\n", err)
			}
		}()
	}
}

func dial(to, command string) *net.TCPConn {
	conn, err := net.DialTimeout("tcp", to, patience)
	fatal("dial", err)
	_, err = io.WriteString(conn, command)
	fatal("command", err)
	fatal("deadline", conn.SetDeadline(time.Now().Add(patience)))
	return conn.(*net.TCPConn)
}

// exchange sends all of data, ends that direction, and reads until the other one ends.
func exchange(to, command string, data []byte) []byte {
	conn := dial(to, command)
	defer conn.Close()
	sent := make(chan error)
	go func() {
		_, err := conn.Write(data)
		if err == nil {
			err = conn.CloseWrite()
		}
		sent <- err
	}()
	back, err := io.ReadAll(conn)
	fatal("read", err)
	fatal("write", <-sent)
	return back
}

// echoes sends one piece after the other and waits for each echo.
func echoes(to string, sizes []int) {
	conn := dial(to, "e")
	defer conn.Close()
	for i, size := range sizes {
		data, back := noise(int64(i), size), make([]byte, size)
		_, err := conn.Write(data)
		fatal("write", err)
		_, err = io.ReadFull(conn, back)
		fatal("read", err)
		need(bytes.Equal(data, back), "other bytes come back, of %d", size)
	}
}

// deadline lets a read time out, and continues with the connection.
func deadline(to string) {
	conn := dial(to, "e")
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	one := make([]byte, 1)
	_, err := conn.Read(one)
	need(errors.Is(err, os.ErrDeadlineExceeded), "read: %v", err)
	conn.SetReadDeadline(time.Now().Add(patience))
	_, err = conn.Write([]byte{7})
	fatal("write", err)
	_, err = conn.Read(one)
	need(err == nil && one[0] == 7, "read: %v, %v", err, one)
	peer, err := net.ResolveTCPAddr("tcp", to)
	fatal("address", err)
	got := conn.RemoteAddr().(*net.TCPAddr)
	need(got.IP.Equal(peer.IP) && got.Port == peer.Port, "the peer is %v", got)
}

func parallel(n int, body func(i int)) {
	var all sync.WaitGroup
	for i := 0; i < n; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			body(i)
		}(i)
	}
	all.Wait()
}

func netClient(address, port string) {
	to := net.JoinHostPort(address, port)
	sums := make([]string, 4)
	parallel(len(sums), func(i int) {
		data := noise(int64(i), 1<<20)
		sums[i] = string(exchange(to, "h", data))
		need(sums[i] == sum(data), "the sum of %d is %s", i, sums[i])
	})
	fmt.Println("bulk", sums)
	parallel(30, func(i int) {
		data := noise(int64(i), 100*i)
		need(bytes.Equal(data, exchange(to, "e", data)), "other bytes come back to %d", i)
	})
	fmt.Println("many at once")
	echoes(to, []int{1, 10, 1000, 1500, 4096, 20000, 65536, 200000, 3})
	fmt.Println("echoes")
	deadline(to)
	fmt.Println("a deadline")
	fmt.Println("a file", sum(exchange(to, "f", nil)))
	data := noise(99, 1<<19)
	fmt.Println("relayed", bytes.Equal(data, exchange(to, "re", data)))
}

// dials: if connect() blocks, Go needs a thread for each one in progress.
func dials(address, port string, n int) {
	start := time.Now()
	parallel(n, func(i int) {
		data := noise(int64(i), 1000)
		back := exchange(net.JoinHostPort(address, port), "h", data)
		need(string(back) == sum(data), "the sum of %d is %s", i, back)
	})
	threads := pprof.Lookup("threadcreate").Count()
	need(threads < n/2, "%d threads for %d connects", threads, n)
	fmt.Fprintf(os.Stderr, "%d connects in %v with %d threads\n", n, time.Since(start), threads)
	fmt.Println("dials", n)
}
