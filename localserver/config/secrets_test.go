package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlainSecretIsSealed(t *testing.T) {
	dir := folder(t, "[providers.work]\nkind = \"openai\"\napi_key = 'planted-one' # mine\n\n[[mcp.servers]]\nname = \"a\"\nenv = { K = \"planted-two\" }\n\n[secrets.vault]\nx = \"planted-three\"\n")
	f := open(t, dir)
	if s := f.Current(); s.Providers["work"].APIKey != "planted-one" || s.Secrets.Vault["x"] != "planted-three" {
		t.Fatalf("plain secrets are not read: %+v", s)
	}
	mustSet(t, f, put("server.port", 9)...)
	for _, name := range []string{FileName, FileName + ".bak"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(string(data), "planted") || strings.Count(string(data), "enc2:") != 3 || !strings.Contains(string(data), " # mine") {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}
	out, err := json.Marshal(f.Current().List(""))
	if err != nil || strings.Contains(string(out), "planted") || strings.Contains(string(out), "enc2:") {
		t.Errorf("list shows a secret: %v\n%s", err, out)
	}
	if s := open(t, dir).Current(); s.Providers["work"].APIKey != "planted-one" {
		t.Errorf("after sealing: %+v", s.Providers)
	}
}

func TestWrongSecrets(t *testing.T) {
	dir := folder(t, "[providers.work]\nkind = \"openai\"\napi_key = \"planted-key\"\n[providers.other]\nkind = \"anthropic\"\n")
	mustSet(t, open(t, dir), put("server.port", 9)...)
	text := read(t, dir)
	at := strings.Index(text, "enc2:") + 30
	flipped := text[:at] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", text[at])+1)%16]) + text[at+1:]
	write(t, dir, flipped)
	check := func(name, want string) {
		t.Helper()
		s := open(t, dir).Current()
		if _, ok := s.Providers["work"]; ok {
			t.Errorf("%s: the provider is in use", name)
		}
		if _, ok := s.Providers["other"]; !ok {
			t.Errorf("%s: the other provider is gone", name)
		}
		for _, p := range s.Problems {
			if p.Code == CodeSecret && p.Path == "providers.work.api_key" && p.Line == 3 && strings.Contains(p.Message, want) && !strings.Contains(p.String(), "enc2:0") {
				return
			}
		}
		t.Errorf("%s: problems %v", name, s.Problems)
	}
	check("flipped", "tampered")
	write(t, dir, text)
	if err := os.Remove(filepath.Join(dir, ".secret_key")); err != nil {
		t.Fatal(err)
	}
	check("no key", "missing")
	if err := os.WriteFile(filepath.Join(dir, ".secret_key"), []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	check("other key", "wrong key")
}
