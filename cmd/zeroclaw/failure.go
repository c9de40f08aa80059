package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"time"
)

// unstarted is a failure to start, with what a person can do about a state
// folder that takes no files.
func unstarted(err error, state string) error {
	if err == nil {
		return nil
	}
	f := failure{err: err}
	switch {
	case slices.ContainsFunc(diskFull, func(full error) bool { return errors.Is(err, full) }):
		f.hint = "free some space on the disk of " + state + ", or set ZEROCLAW_CONFIG_DIR to a folder on another one"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, readOnlyDisk):
		f.hint = "make " + state + " writable, or set ZEROCLAW_CONFIG_DIR to a folder that is"
	case errors.Is(err, fs.ErrExist), errors.Is(err, notFolder):
		f.hint = "move away what stands where " + state + " belongs, or set ZEROCLAW_CONFIG_DIR to another folder"
	}
	return f
}

// failureShown is how long the page that explains a failed start stays
// reachable.
const failureShown = 20 * time.Second

// showFailure opens a page that says why the companion could not start. It is
// for a start by double-click, where nobody sees stderr.
func (e environment) showFailure(ctx context.Context, f failure) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return
	}
	page := fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>ZeroClaw could not start</title>
<h1>ZeroClaw could not start</h1><p>%s</p><p>%s</p>`, html.EscapeString(f.err.Error()), html.EscapeString(f.hint))
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != ln.Addr().String() {
			http.Error(w, "wrong host", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		_, _ = w.Write([]byte(page))
	})}
	defer server.Close()
	go func() { _ = server.Serve(ln) }()
	if e.open("http://"+ln.Addr().String()+"/") != nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(failureShown):
	}
}
