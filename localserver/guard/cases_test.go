package guard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// elsewhere names the cases that need more than the guard; the test of
// localserver runs them against the whole companion.
var elsewhere = map[string]string{
	"H074": "TestSlowloris",
	"H080": "events", "H082": "events", "H084": "events",
	"H072": "a tool has to run",
	"H086": "approvals", "H087": "approvals", "H091": "start-up", "H093": "the log of the companion; TestPanicIsScrubbed here",
}

type httpCase struct {
	ID, Title, Setup string
	Request          struct {
		Method, Endpoint string
		Headers          map[string]string
		Body             string
		Raw              string
		Generator        string
	}
	Expected struct {
		StatusIn          []int             `json:"status_in"`
		HeaderEquals      map[string]string `json:"header_equals"`
		HeaderContains    map[string]string `json:"header_contains"`
		HeaderAbsent      []string          `json:"header_absent"`
		HeaderAbsentOrNot map[string]string `json:"header_absent_or_not"`
		BodyExcludes      []string          `json:"body_excludes"`
		NoSideEffect      bool              `json:"no_side_effect"`
	}
}

func TestHTTPCases(t *testing.T) {
	f, err := os.Open("testdata/http.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran, left := 0, 0
	s := bufio.NewScanner(f)
	for s.Scan() {
		var c httpCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if elsewhere[c.ID] != "" {
			left++
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
	}
	t.Logf("%d cases run, %d left to the whole companion", ran, left)
	if ran < 40 {
		t.Errorf("only %d cases were run", ran)
	}
}

func runCase(t *testing.T, c httpCase) {
	ui := ""
	if strings.Contains(c.Setup, "external UI origin configured: ") {
		ui = strings.Fields(strings.SplitAfter(c.Setup, "configured: ")[1])[0]
	}
	g := start(t, ui, nil)
	endpoints := []string{strings.NewReplacer("@status", "/api/status", "@health", "/api/status", "@events", "/api/events",
		"@call", "/api/sessions/s1/calls", "@approve", "/api/approvals/1", "@ui_static", "/", "@ui", "/").Replace(c.Request.Endpoint)}
	if c.Request.Endpoint == "@every_route" {
		endpoints = nil
		for _, r := range g.routes() {
			endpoints = append(endpoints, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Pattern, "x"))
		}
	}
	for _, target := range endpoints {
		target = strings.ReplaceAll(strings.Replace(target, "//", "/", 1), "${TOKEN}", pageToken)
		resp, body := sendCase(t, g, c, target)
		judge(t, g, c, resp, body)
	}
}

func sendCase(t *testing.T, g *rig, c httpCase, target string) (*http.Response, string) {
	expand := func(s string) string {
		s = strings.NewReplacer("${PORT}", strconv.Itoa(g.port), "${PORT_PLUS_1}", strconv.Itoa(g.port+1),
			"${TOKEN}", pageToken, "${TOKEN_MINUS_1}", pageToken[:len(pageToken)-1], "${TOKEN_SWAPCASE}", swapCase(pageToken),
			"${OLD_TOKEN}", strings.Repeat("o", len(pageToken)), "${RANDOM}", strings.Repeat("r", len(pageToken)),
			"${ROOT}", "/root", "${OUT}", "/out", "@status", "/api/status").Replace(s)
		return regexp.MustCompile(`\$\{(.)\*(\d+)\}`).ReplaceAllStringFunc(s, func(m string) string {
			n, _ := strconv.Atoi(m[4 : len(m)-1])
			return strings.Repeat(m[2:3], n)
		})
	}
	if c.Request.Raw != "" {
		return g.raw(t, expand(c.Request.Raw), c.Request.Method)
	}
	var headers []string
	for k, v := range c.Request.Headers {
		headers = append(headers, expand(k+": "+v))
	}
	slices.Sort(headers)
	body := expand(c.Request.Body)
	if c.Request.Generator != "" {
		// What a gzip of zeros begins with; it must not be looked at.
		body = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + strings.Repeat("\x00", 1<<20)
	}
	return g.ask(t, c.Request.Method, target, headers, body)
}

func judge(t *testing.T, g *rig, c httpCase, resp *http.Response, body string) {
	t.Helper()
	e := c.Expected
	if len(e.StatusIn) > 0 && !slices.Contains(e.StatusIn, resp.StatusCode) {
		t.Errorf("%s: status %d, want one of %v: %s", c.Title, resp.StatusCode, e.StatusIn, body)
	}
	for k, v := range e.HeaderEquals {
		if resp.Header.Get(k) != v {
			t.Errorf("%s: %s = %q, want %q", c.Title, k, resp.Header.Get(k), v)
		}
	}
	for k, v := range e.HeaderContains {
		if !strings.Contains(resp.Header.Get(k), v) {
			t.Errorf("%s: %s = %q, want %q in it", c.Title, k, resp.Header.Get(k), v)
		}
	}
	for _, k := range e.HeaderAbsent {
		if resp.Header.Get(k) != "" {
			t.Errorf("%s: %s = %q, want none", c.Title, k, resp.Header.Get(k))
		}
	}
	for k, v := range e.HeaderAbsentOrNot {
		if resp.Header.Get(k) == v {
			t.Errorf("%s: %s = %q", c.Title, k, v)
		}
	}
	for _, x := range e.BodyExcludes {
		if strings.Contains(body, x) {
			t.Errorf("%s: the body has %q", c.Title, x)
		}
	}
	if strings.Contains(fmt.Sprint(resp.Header)+body, pageToken) {
		t.Errorf("%s: the token is in the answer", c.Title)
	}
	if e.NoSideEffect && g.calls.Load() != 0 {
		t.Errorf("%s: the call was made", c.Title)
	}
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}
