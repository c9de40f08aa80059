package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRedactExact(t *testing.T) {
	r := NewRedactor()
	secret := `p@ss "w<o>rd" ü/+&`
	r.Add(secret, "short", "", "hunter22", "hunter22-longer")
	js, _ := json.Marshal(secret)
	for _, text := range []string{
		"x " + secret + " y", "x" + string(js[1:len(js)-1]) + "y", url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("u:" + secret)), base64.StdEncoding.EncodeToString([]byte("us:" + secret + "!")),
		"hunter22", "a hunter22-longer b",
	} {
		got := r.Redact(text)
		if !strings.Contains(got, Redacted) || strings.Contains(got, "longer") {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	for _, text := range []string{"", "short", "a short word", "hunter2"} {
		if got := r.Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

func TestRedactShapes(t *testing.T) {
	r := NewRedactor()
	// Built from parts, so that no scanner takes this file for a leak.
	run := "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	key := "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE" + " KEY-----"
	tests := []struct{ text, want string }{
		{"key=sk-" + run + ";", "key=[redacted];"},
		{"sk-proj-" + run, "[redacted]"},
		{"task-sk-" + run, "task-[redacted]"},
		{"ghp_" + run + " ghs_" + run, "[redacted] [redacted]"},
		{"github_pat_" + run, "[redacted]"},
		{"xoxb-1234567890-abc", "[redacted]"},
		{"AKIA" + "IOSFODNN7EXAMPLE", "[redacted]"},
		{"a zeroclaw_" + run + "xyz, zeroclaw_status", "a [redacted], zeroclaw_status"},
		{"Authorization: Bearer " + run, "Authorization: Bearer [redacted]"},
		{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "[redacted]"},
		{"a " + key + " b", "a [redacted] b"},
		{key + key, "[redacted][redacted]"},
		{"x -----BEGIN PRIVATE" + " KEY-----\nMIIEabc", "x [redacted]"},
		{"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", ""},
		{"task-list-of-things-to-do-today", ""},
		{"sk-learn-contrib-some-long-package-name", ""},
		{"AKIA" + "IOSFODNN7EXAMPLEXX", ""},
		{"a bearer of good news", ""},
		{"ghp_short", ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.text
		}
		if got := r.Redact(tt.text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", tt.text, got, want)
		}
	}
}

// TestRedactLinear feeds texts made to be slow: four times the text may not
// take much more than four times as long.
func TestRedactLinear(t *testing.T) {
	r := NewRedactor()
	r.Add(strings.Repeat("a", 200)+"b", "sk-sk-sk-x", "another-secret")
	begin := "-----BEGIN PRIVATE" + " KEY-----"
	for _, unit := range []string{"a", "sk-", "ask-", "AKIA", "eyJ", "Bearer ", begin, begin + "\x01", "ghp_", "x"} {
		measure := func(size int) time.Duration {
			text := strings.Repeat(unit, size/len(unit))
			best := time.Hour
			for range 6 {
				start := time.Now()
				r.Redact(text)
				best = min(best, time.Since(start))
			}
			return best
		}
		small, large := measure(256<<10), measure(1<<20)
		if large > 12*small+50*time.Millisecond {
			t.Errorf("%q: 256 KiB took %v, 1 MiB %v", unit, small, large)
		}
	}
}

// What is behind a line break is found in a text, values that overlap leave
// nothing of either, and a text without secrets is not copied.
func TestRedactPlaces(t *testing.T) {
	r := NewRedactor()
	r.Add("abcabcabc", "abcabcab", "cabdefgh", "aaaaaa")
	run := "a1B2c3D4e5F6g7H8i9J0"
	for text, want := range map[string]string{
		"x\nghp_" + run:           "x\n[redacted]",
		`"x\nghp_` + run:          `"x\n[redacted]`, // the same in JSON
		`"x\tBearer ` + run:       `"x\tBearer [redacted]`,
		`c:\x_ghp_` + run:         `c:\x_[redacted]`,
		`c:\xghp_` + run:          `c:\xghp_` + run,
		"abcabcabc abcabcab.":     "[redacted] [redacted].",
		"abcabcabdefgh":           "[redacted]",
		"abcabcababcabcab":        "[redacted][redacted]",
		"aaaaaaaaaaa!":            "[redacted]!",
		"Bearer sk-" + run + run:  "Bearer [redacted]",
		"Bearer abcabcabc-and-on": "Bearer [redacted]",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
	clean := strings.Repeat("nothing to hide here\n", 1<<16)
	if n := testing.AllocsPerRun(3, func() { r.Redact(clean) }); n > 2 {
		t.Errorf("a text without secrets costs %v allocations", n)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("secret-value", "x secret-value y")
	f.Add("ü\x00\"\\<", "-----BEGIN PRIVATE"+" KEY-----")
	f.Add("000010[", "000010") // what is left joins with the mark behind it
	f.Add("edacted", "[redacted] ")
	f.Fuzz(func(t *testing.T, secret, text string) {
		v := strings.TrimSpace(secret)
		if len(v) < MinLength || IsSealed(v) {
			return
		}
		r := NewRedactor()
		r.Add(secret)
		got := r.Redact(text + secret)
		// Only what stands between marks is left of the text; a mark that happens
		// to go on where it ends gives nothing away.
		for _, left := range strings.Split(got, Redacted) {
			if strings.Contains(left, v) {
				t.Errorf("Redact left %q in %q", v, got)
			}
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor()
	r.Add("first-secret-value", "second-secret-value")
	text := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 24000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}
