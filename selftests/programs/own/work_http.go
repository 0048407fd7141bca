// SPDX-License-Identifier: GPL-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

func httpServe(at, file string) {
	http.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, file)
	})
	http.HandleFunc("/sum", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, sum(data))
	})
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // until the client is gone
	})
	fatal("http", http.ListenAndServe(at, nil))
}

func get(client *http.Client, url, part string) []byte {
	request, err := http.NewRequest("GET", url, nil)
	fatal("request", err)
	if part != "" {
		request.Header.Set("Range", "bytes="+part)
	}
	response, err := client.Do(request)
	fatal("get", err)
	defer response.Body.Close()
	need(response.StatusCode/100 == 2, "status %d", response.StatusCode)
	data, err := io.ReadAll(response.Body)
	fatal("body", err)
	return data
}

// chunked hides the length, so that the body is sent in chunks.
type chunked struct{ io.Reader }

func post(client *http.Client, url string, data []byte) {
	response, err := client.Post(url, "", chunked{bytes.NewReader(data)})
	fatal("post", err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	fatal("answer", err)
	need(string(answer) == sum(data), "the sum is %s", answer)
}

func httpClient(address, port string) {
	url := "http://" + net.JoinHostPort(address, port)
	client := &http.Client{Timeout: patience}
	fmt.Println("file", sum(get(client, url+"/file", "")))
	fmt.Println("part", sum(get(client, url+"/file", "100001-299999")))
	parallel(10, func(i int) {
		for k := 0; k < 3; k++ { // the connection is kept
			post(client, url+"/sum", noise(int64(i), 30000*i+k))
		}
	})
	fmt.Println("posts")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", url+"/slow", nil)
	fatal("request", err)
	_, err = client.Do(request)
	fmt.Println("given up:", errors.Is(err, context.DeadlineExceeded))
}
