package relay

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

func port(t *testing.T, raw string) int {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(u.Port())
	return n
}

func TestFindLocal(t *testing.T) {
	models := func(body string) int {
		return port(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "" {
				w.WriteHeader(404)
				return
			}
			io.WriteString(w, body)
		}).URL)
	}
	hang := make(chan struct{})
	defer close(hang)
	slow := port(t, backend(t, func(w http.ResponseWriter, r *http.Request) { <-hang }).URL)
	ollama := models(`{"object":"list","data":[{"id":"llama3.3","owned_by":"library"},{"id":"qwen\u001b[2J"}]}`)
	plain := models(`{"data":[{"id":"m1"},{"id":"m2"}]}`)
	empty := models(`{"data":[]}`)
	start := time.Now()
	found := FindLocal(context.Background(), []LocalPort{
		{ollama, "X"}, {1, "closed"}, {slow, "slow"}, {models(`<html>`), "html"}, {models(`{"a":1}`), "json"}, {plain, "Y"}, {empty, "Z"},
		{port(t, backend(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }).URL), "redirect"},
	}, 0)
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("looking took %v", d)
	}
	base := func(p int) string { return "http://127.0.0.1:" + strconv.Itoa(p) + "/v1" }
	want := []Found{{"Ollama", base(ollama), []string{"llama3.3"}}, {"Y", base(plain), []string{"m1", "m2"}}, {"Z", base(empty), []string{}}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("FindLocal = %+v, want %+v", found, want)
	}
	if got := FindLocal(context.Background(), []LocalPort{}, 0); got == nil || len(got) != 0 {
		t.Errorf("FindLocal with no port = %#v, want an empty list", got)
	}
}

func TestTestProvider(t *testing.T) {
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
		switch {
		case !strings.Contains(key, "good"):
			w.WriteHeader(401)
		case r.URL.Path == "/v1/models":
			io.WriteString(w, `{"data":[{"id":"m"}],"has_more":false}`)
		default:
			w.WriteHeader(404)
		}
	})
	l := New(Config{})
	for _, tt := range []struct {
		p            Provider
		ok           bool
		reason, hint string
		code         string
		status       int
	}{
		{Provider{Kind: OpenAI, BaseURL: up.URL + "/v1", Key: "good"}, true, "", "", "", 0},
		{Provider{Kind: Anthropic, BaseURL: up.URL, Key: "good"}, true, "", "", "", 0},
		{Provider{Kind: OpenAI, BaseURL: up.URL + "/v1", Key: "bad"}, false, "answered 401", "key", "provider_status", 401},
		{Provider{Kind: OpenAI, BaseURL: up.URL + "/v2", Key: "good"}, false, "answered 404", "/v1", "provider_status", 404},
		{Provider{Kind: OpenAI, BaseURL: "http://127.0.0.1:1/v1"}, false, "is it started?", "", "provider_unreachable", 0},
		{Provider{Kind: OpenAI, BaseURL: "nonsense"}, false, "base_url", "Settings", "provider_misconfigured", 0},
	} {
		got := l.Test(context.Background(), tt.p)
		if got.OK != tt.ok || !strings.Contains(got.Reason, tt.reason) || !strings.Contains(got.Hint, tt.hint) || tt.ok && (len(got.Models) != 1 || got.LatencyMS < 1) {
			t.Errorf("Test(%+v) = %+v", tt.p, got)
		}
		if got.Code != tt.code || got.Status != tt.status || strings.HasPrefix(got.Code, "provider_") && got.Code != "provider_misconfigured" && !strings.HasPrefix(got.At, "http") {
			t.Errorf("Test(%+v) says %q %d at %q, want %q %d", tt.p, got.Code, got.Status, got.At, tt.code, tt.status)
		}
		if strings.Contains(got.Reason+got.Hint, "good") {
			t.Errorf("the key is in %+v", got)
		}
	}
}
