package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// How long a companion may take to start, and how it is waited for.
const (
	startTime     = 10 * time.Second
	lookAfter     = 50 * time.Millisecond
	relaunchAfter = 250 * time.Millisecond
)

// idleAfter is when a companion ends that was started for a client and that
// nobody uses any more.
const idleAfter = "10m"

// launcher starts companions that outlive this program.
func (e environment) launcher(state string) func() (<-chan error, error) {
	return func() (<-chan error, error) {
		log, err := openLog(filepath.Join(state, "logs"))
		if err != nil {
			return nil, err
		}
		defer log.Close()
		before, err := log.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, fmt.Errorf("open the log: %w", err)
		}
		fmt.Fprintln(e.stderr, "zeroclaw: no companion runs; starting one")
		cmd, err := startDetached(func() *exec.Cmd {
			cmd := exec.Command(e.self, "--background", "--no-browser", "--exit-when-idle", idleAfter)
			// What is printed there by chance must have a reader.
			cmd.Stderr = log
			return cmd
		})
		if err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() { // ends with the companion, or with this program
			err := cmd.Wait()
			if err != nil {
				if said := saidSince(log.Name(), before); said != "" {
					err = errors.New(said)
				}
			}
			ended <- err
		}()
		return ended, nil
	}
}

// maxSaid bounds what is read of the log of a companion that did not start, in
// bytes.
const maxSaid = 16 << 10

// saidSince is what a program that failed gave as the reason, the last thing in
// its log.
func saidSince(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, from, maxSaid))
	if err != nil {
		return ""
	}
	_, said, ok := strings.Cut("\n"+string(data), "\nzeroclaw: ")
	if !ok {
		return ""
	}
	first, hint, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if hint = words(hint); hint != "" {
		return oneLine(first) + " (" + hint + ")"
	}
	return oneLine(first)
}
