package mcpclient

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// secure is a stub over TLS and the PEM text of its authority.
func secure(t *testing.T, s *stub) (*stub, []byte) {
	t.Helper()
	prepare(s)
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, pemOf(s.Server)
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// R018
func TestAuthoritiesThatAreRefused(t *testing.T) {
	t.Parallel()
	s, good := secure(t, &stub{})
	dir := t.TempDir()
	cases := []struct{ name, path, want string }{
		{"relative", "ca.pem", "must be absolute"},
		{"missing", filepath.Join(dir, "none.pem"), "cannot be read"},
		{"folder", dir, "must name a regular file, it is a folder"},
		{"empty", write(t, "empty.pem", nil), "contained no certificates"},
		{"one byte too long", write(t, "long.pem", append(bytes.Clone(good), bytes.Repeat([]byte("\n"), maxAuthorities+1-len(good))...)), "exceeds the 1048576-byte limit"},
		{"junk", write(t, "junk.pem", []byte("not PEM")), "invalid PEM CA certificate"},
		{"broken end", write(t, "cut.pem", good[:len(good)-30]), "invalid PEM CA certificate"},
		{"good and broken", write(t, "half.pem", append(bytes.Clone(good), good[:len(good)-30]...)), "invalid PEM CA certificate"},
		{"no certificate in it", write(t, "der.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), "invalid PEM CA certificate"},
		{"a key", write(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})), "contained no certificates"},
	}
	if runtime.GOOS != "windows" {
		device := filepath.Join(dir, "device.pem")
		if err := os.Symlink("/dev/zero", device); err != nil {
			t.Fatal(err)
		}
		fifo := filepath.Join(dir, "fifo.pem")
		makePipe(t, fifo)
		cases = append(cases, struct{ name, path, want string }{"link to a device", device, "must name a regular file, it is a device"},
			struct{ name, path, want string }{"pipe", fifo, "must name a regular file, it is a pipe"})
	}
	for _, tt := range cases {
		began := time.Now()
		_, _, err := tryReach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.CACertPath = tt.path })
		switch {
		case err == nil:
			t.Errorf("%s: it connects", tt.name)
		case !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) || !strings.Contains(err.Error(), "server far"):
			t.Errorf("%s: %v, want the server, the path and %q", tt.name, err, tt.want)
		}
		if time.Since(began) > slowdown*time.Second {
			t.Errorf("%s: it hangs", tt.name)
		}
	}
}

// R019, peer bug E8
func TestAuthoritiesThatAreTaken(t *testing.T) {
	t.Parallel()
	s, good := secure(t, &stub{})
	if _, _, err := tryReach(t, services.TransportHTTP, s.URL, nil); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("without the file: %v", err)
	}
	path := write(t, "ca.pem", append([]byte("# ours\n"), good...))
	link := filepath.Join(t.TempDir(), "link.pem")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	full := write(t, "full.pem", append(bytes.Clone(good), bytes.Repeat([]byte("\n"), maxAuthorities-len(good))...))
	for _, ca := range []string{path, link, full} {
		p, _ := reach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.CACertPath = ca })
		if _, err := call(t, p, "echo", `{}`); err != nil {
			t.Error(err)
		}
	}
	// Verification stays on: the certificate is not one for this name.
	_, _, err := tryReach(t, services.TransportHTTP, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), func(spec *services.Spec, _ *services.Hooks) { spec.CACertPath = path })
	holds(t, err, "not trusted")
	_, _, err = tryReach(t, services.TransportHTTP, "http://127.0.0.1:1/", func(spec *services.Spec, _ *services.Hooks) { spec.CACertPath = path })
	holds(t, err, "https")
}

func TestOldTLS(t *testing.T) {
	t.Parallel()
	s := &stub{}
	prepare(s)
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	s.StartTLS()
	defer s.Close()
	_, _, err := tryReach(t, services.TransportHTTP, s.URL, nil)
	holds(t, err, "protocol version")
}

// R001: nothing of a request reaches the other end of a redirect that is not
// followed.
func TestRedirectFromHTTPSToHTTP(t *testing.T) {
	t.Parallel()
	var reached int
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer plain.Close()
	s, good := secure(t, &stub{before: func(w http.ResponseWriter, r *http.Request, _ stubMessage) bool {
		http.Redirect(w, r, plain.URL+"/mcp", http.StatusTemporaryRedirect)
		return true
	}})
	path := write(t, "ca.pem", good)
	_, _, err := tryReach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) {
		spec.CACertPath, spec.Headers = path, map[string]string{"Authorization": "Bearer x"}
	})
	holds(t, err, "refused", "redirects to http://")
	if reached != 0 {
		t.Errorf("%d requests came through", reached)
	}
}

func pemOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
