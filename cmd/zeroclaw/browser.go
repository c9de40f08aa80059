package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pkg/browser"
)

// openTimeout is how long an opener may take: some never return while their
// browser runs.
const openTimeout = 5 * time.Second

// openBrowser opens an address in the user's browser. It returns when the
// opener has ended or has run for a while without failing.
func openBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(address, "\x00 ") {
		return fmt.Errorf("open the browser: %q is no web address", address)
	}
	done := make(chan error, 1)
	go func() {
		if wsl() {
			done <- exec.Command("rundll32.exe", "url.dll,FileProtocolHandler", address).Run()
			return
		}
		// The opener's chatter would end up between our own lines.
		browser.Stdout, browser.Stderr = io.Discard, io.Discard
		done <- browser.OpenURL(address)
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("open the browser: %w", err)
		}
		return nil
	case <-time.After(openTimeout):
		return nil
	}
}

// wsl reports whether this is Linux inside Windows, whose browser is the one
// that the user sees.
func wsl() bool {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(data)), "microsoft")
}

// headless reports whether there is no browser to open here: a remote shell, or
// a Linux without display.
func (e environment) headless() bool {
	if e.getenv("SSH_CONNECTION") != "" || e.getenv("SSH_TTY") != "" {
		return true
	}
	return e.goos == "linux" && e.getenv("DISPLAY") == "" && e.getenv("WAYLAND_DISPLAY") == "" && e.getenv("WSL_DISTRO_NAME") == ""
}
