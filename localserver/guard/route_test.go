package guard

import (
	"io"
	"net/http"
	"testing"
)

func TestCheckRefusesRoutesWithoutClass(t *testing.T) {
	h := http.NotFoundHandler()
	for name, r := range map[string]Route{
		"auth":     {"GET", "/x", 0, NoBody, 0, h, nil},
		"body":     {"POST", "/x", Token, 0, 0, h, nil},
		"handler":  {"POST", "/x", Token, JSON, 0, nil, nil},
		"method":   {"", "/x", Token, JSON, 0, h, nil},
		"trace":    {"TRACE", "/x", Token, NoBody, 0, h, nil},
		"pattern":  {"GET", "GET /x", Token, NoBody, 0, h, nil},
		"get body": {"GET", "/x", Token, JSON, 0, h, nil},
		"host api": {"POST", "/api/x", Host, JSON, 0, h, nil},
	} {
		if Check([]Route{r}) == nil {
			t.Errorf("%s: a bad route was accepted", name)
		}
	}
	good := (&rig{}).routes()
	if err := Check(good); err != nil {
		t.Error(err)
	}
	if Check(append(good, good[0])) == nil {
		t.Error("a route registered twice was accepted")
	}
}

func TestNothingIsReadBeforeTheToken(t *testing.T) {
	read := &countingBody{}
	routes := []Route{{"POST", "/api/x", Token, JSON, 0, http.NotFoundHandler(), nil}, {"POST", "/api/u", Token, Upload, 0, http.NotFoundHandler(), nil}}
	h := New(Config{Port: 1}, routes)
	for _, path := range []string{"/api/x", "/api/u", "/api/none"} {
		r, _ := http.NewRequest("POST", path, read)
		r.Host, r.ContentLength = "127.0.0.1:1", -1
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer wrong")
		w := &recorder{h: http.Header{}}
		h.ServeHTTP(w, r)
		if w.status != 401 || read.n != 0 {
			t.Errorf("%s = %d after %d reads, want 401 after none", path, w.status, read.n)
		}
	}
}

type countingBody struct{ n int }

func (c *countingBody) Read(p []byte) (int, error) { c.n++; return 0, io.EOF }

type recorder struct {
	h      http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.h }
func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
func (r *recorder) WriteHeader(s int)           { r.status = s }
