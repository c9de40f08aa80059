package mcpclient

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zeroclaw/tools/atomicfile"
)

// maxAuthorities bounds a file of certificate authorities in bytes.
const maxAuthorities = 1 << 20

// authorities returns the system's certificate authorities together with those
// of the PEM file at path. Links are followed; what was opened must be a regular
// file. Each error is a sentence that names the path.
func authorities(path string) (*x509.CertPool, error) {
	fail := func(format string, args ...any) (*x509.CertPool, error) {
		return nil, fmt.Errorf("tls_ca_cert_path %q %w", path, fmt.Errorf(format, args...))
	}
	if !filepath.IsAbs(path) {
		return fail("must be absolute")
	}
	text, err := atomicfile.Read(path, maxAuthorities)
	switch {
	case errors.Is(err, atomicfile.ErrNotRegular):
		return fail("must name a regular file, it is %s", kindOf(path))
	case errors.Is(err, atomicfile.ErrTooLong):
		return fail("exceeds the %d-byte limit", maxAuthorities)
	case err != nil:
		return fail("cannot be read: %w", reason(err))
	}
	certs, err := parseAuthorities(text)
	if err != nil {
		return fail("%w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		// Fewer authorities than wanted, never more.
		pool = x509.NewCertPool()
	}
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// parseAuthorities reads PEM text that holds certificates and nothing that is
// broken.
func parseAuthorities(text []byte) ([]*x509.Certificate, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("contained no certificates: it is empty")
	}
	var certs []*x509.Certificate
	rest := text
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds an invalid PEM CA certificate (number %d): %w", len(certs)+1, err)
		}
		certs = append(certs, c)
	}
	switch {
	case bytes.Contains(rest, []byte("-----BEGIN CERTIFICATE-----")), len(certs) == 0 && !bytes.Contains(text, []byte("-----BEGIN ")):
		return nil, fmt.Errorf("holds an invalid PEM CA certificate: it is no PEM text, or its end is missing")
	case len(certs) == 0:
		return nil, fmt.Errorf("contained no certificates")
	}
	return certs, nil
}

// kindOf says what stands at a path.
func kindOf(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	switch m := st.Mode(); {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	}
	return "none"
}
