package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// Redacted is what stands in the place of a secret.
const Redacted = "[redacted]"

// MinLength is the length in bytes from which on an exact value is redacted.
// Shorter ones would blank ordinary words out of every text.
const MinLength = 6

// Redactor replaces secrets in text: exact values that it was told about, in
// plain, JSON-escaped, URL-escaped and base64 form, and anything shaped like a
// well-known kind of token. It may be used from any goroutine.
type Redactor struct {
	mu     sync.Mutex // guards values
	values map[string]bool

	matcher atomic.Pointer[matcher] // nil: values changed, compile first
}

// NewRedactor returns a Redactor that knows only shapes of tokens.
func NewRedactor() *Redactor { return &Redactor{values: map[string]bool{}} }

// Add makes values known. Adding one twice changes nothing.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= MinLength && !IsSealed(v) && !r.values[v] {
			r.values[v] = true
			r.matcher.Store(nil)
		}
	}
}

// compile builds the matcher of the values known now.
func (r *Redactor) compile() *matcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.matcher.Load(); m != nil {
		return m
	}
	var all []string
	for v := range r.values {
		all = append(all, forms(v)...)
	}
	m := newMatcher(all)
	r.matcher.Store(m)
	return m
}

// Redact returns text without the secrets. It looks at the text once; a text
// without any secret is returned as it is, not copied.
func (r *Redactor) Redact(text string) string {
	if len(text) < MinLength {
		return text
	}
	m := r.matcher.Load()
	if m == nil {
		m = r.compile()
	}
	return without(text, findKeys(text, m.find(text)))
}

// forms lists the ways in which a value may turn up in text.
func forms(v string) []string {
	out := []string{v, url.QueryEscape(v), url.PathEscape(v)}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, string(b[1:len(b)-1])) // with <, > and & escaped
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) == nil {
		s := strings.TrimSuffix(plain.String(), "\n")
		out = append(out, s[1:len(s)-1])
	}
	// In base64 a value looks different at each of three alignments; the
	// characters at both ends mix with its neighbours and are left out.
	for shift := range 3 {
		padded := strings.Repeat("\x00", shift) + v
		from := (shift*8 + 5) / 6
		to := len(padded) * 8 / 6
		if to-from < 8 {
			continue
		}
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, e.EncodeToString([]byte(padded))[from:to])
		}
	}
	return out
}
