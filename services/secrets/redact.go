package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
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

	exact atomic.Pointer[exact] // nil: values changed, compile first
}

// exact is the compiled form of the known values.
type exact struct{ replacer *strings.Replacer } // nil: no value is known

// NewRedactor returns a Redactor that knows only shapes of tokens.
func NewRedactor() *Redactor { return &Redactor{values: map[string]bool{}} }

// Add makes values known. Adding one twice changes nothing.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= MinLength && !IsSealed(v) && !r.values[v] {
			r.values[v] = true
			r.exact.Store(nil)
		}
	}
}

// compile builds the replacer of the values known now.
func (r *Redactor) compile() *exact {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.exact.Load(); e != nil {
		return e
	}
	e := &exact{}
	if len(r.values) > 0 {
		var all []string
		for v := range r.values {
			all = append(all, forms(v)...)
		}
		// Where two begin at the same byte the replacer takes the earlier pair.
		slices.SortFunc(all, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		all = slices.Compact(all)
		pairs := make([]string, 0, 2*len(all))
		for _, f := range all {
			pairs = append(pairs, f, Redacted)
		}
		e.replacer = strings.NewReplacer(pairs...)
	}
	r.exact.Store(e)
	return e
}

// Redact returns text without the secrets. Its cost is linear in the length of
// the text; a text without any secret is returned as it is, not copied.
func (r *Redactor) Redact(text string) string {
	if len(text) < MinLength {
		return text
	}
	e := r.exact.Load()
	if e == nil {
		e = r.compile()
	}
	if e.replacer != nil {
		text = e.replacer.Replace(text)
	}
	return redactShapes(text)
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
