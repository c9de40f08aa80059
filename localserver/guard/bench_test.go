package guard

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkGuard reports what the guard adds to a small call, as a ratio to
// a lenient handler on a bare net/http server in the same run, taken in turns.
func BenchmarkGuard(b *testing.B) {
	body := `{"tool":"read_file","arguments":{"path":"README.md","start_line":1,"max_lines":100}}`
	guarded := start(b, "", nil)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c callBody
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &c); err != nil {
			WriteError(w, err)
			return
		}
		WriteJSON(w, 200, map[string]string{"tool": c.Tool})
	}))
	defer bare.Close()
	urls := []string{"http://127.0.0.1:" + strconv.Itoa(guarded.port), bare.URL}
	took := make([][]time.Duration, 2)
	for b.Loop() {
		for i, url := range urls {
			req, _ := http.NewRequest("POST", url+"/api/sessions/s1/calls", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer "+pageToken)
			t := time.Now()
			resp, err := http.DefaultClient.Do(req)
			if err != nil || resp.StatusCode != 200 {
				b.Fatal(resp, err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			took[i] = append(took[i], time.Since(t))
		}
	}
	p50 := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
	b.ReportMetric(p50(took[0])/p50(took[1]), "p50-ratio")
}
