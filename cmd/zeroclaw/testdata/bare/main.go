// Command bare is the reference of the start-up figures: a net/http server
// with one static answer on 127.0.0.1 and nothing else.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!doctype html><title>bare</title>"))
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
