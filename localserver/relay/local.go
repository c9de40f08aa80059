package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// LocalPort is a loopback port on which a model server usually listens.
type LocalPort struct {
	Port int
	Name string // of the server that uses it by default
}

// LocalPorts is where FindLocal looks.
var LocalPorts = []LocalPort{
	{11434, "Ollama"}, {1234, "LM Studio"}, {8080, "llama.cpp"}, {8000, "vLLM"}, {5001, "KoboldCpp"},
	{1337, "Jan"}, {4891, "GPT4All"}, {5000, "text-generation-webui"}, {30000, "SGLang"}, {8081, "llama.cpp"},
}

// owners maps what servers say of their models to their names: several share
// a port.
var owners = map[string]string{"library": "Ollama", "llamacpp": "llama.cpp", "vllm": "vLLM", "koboldcpp": "KoboldCpp", "sglang": "SGLang"}

// Found is one model server, as GET /api/providers/local lists it.
type Found struct {
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Models  []string `json:"models"`
}

// FindLocal asks each port on 127.0.0.1 (nil: LocalPorts) for its models, all
// at once, and returns those that answer as an OpenAI-compatible server within
// timeout (0: 300 ms), in the order of ports. No key and no chat is sent.
func FindLocal(ctx context.Context, ports []LocalPort, timeout time.Duration) []Found {
	if ports == nil {
		ports = LocalPorts
	}
	if timeout <= 0 {
		timeout = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	t := plainTransport(dialing{})
	t.DisableKeepAlives = true
	results := make([]*Found, len(ports))
	var wg sync.WaitGroup
	for i, p := range ports {
		wg.Go(func() {
			base := fmt.Sprintf("http://127.0.0.1:%d/v1", p.Port)
			models, owner, err := listModels(ctx, t, base+"/models", nil)
			if err != nil {
				return
			}
			name := p.Name
			if n := owners[owner]; n != "" {
				name = n
			}
			results[i] = &Found{name, base, models}
		})
	}
	wg.Wait()
	found := []Found{}
	for _, f := range results {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// statusError is an answer that is not 200.
type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("it answered %d", e.code) }

var errNoModels = errors.New("it does not answer with a list of models")

// listModels reads a model list in the shape that both protocols share:
// {"data":[{"id":…}]}. Redirects are errors.
func listModels(ctx context.Context, t http.RoundTripper, url string, h http.Header) (models []string, owner string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	if h != nil {
		req.Header = h
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, "", &statusError{resp.StatusCode}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return nil, "", err
	}
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(text, &list) != nil || list.Data == nil && !strings.Contains(string(text), `"data"`) {
		return nil, "", errNoModels
	}
	models = []string{}
	for _, m := range list.Data {
		if owner == "" {
			owner = strings.ToLower(m.OwnedBy)
		}
		if m.ID != "" && len(m.ID) <= 256 && !strings.ContainsFunc(m.ID, unicode.IsControl) && len(models) < 1000 {
			models = append(models, m.ID)
		}
	}
	return models, owner, nil
}

// Tested is the outcome of a provider test, as POST
// /api/providers/{name}/test answers it.
type Tested struct {
	OK        bool     `json:"ok"`
	Models    []string `json:"models,omitempty"`
	LatencyMS int64    `json:"latency_ms,omitempty"`
	// Code is stable, for those who word it themselves; At is the address that
	// was asked and Status what it answered.
	Code   string `json:"code,omitempty"`
	At     string `json:"at,omitempty"`
	Status int    `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Test asks a provider for its models, with its key, within 15 s. p need not
// be saved yet.
func (l *Relay) Test(ctx context.Context, p Provider) Tested {
	u, err := p.base()
	if err != nil {
		return Tested{Code: "provider_misconfigured", Reason: err.Error(), Hint: "correct it in Settings, Providers"}
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	u.Path += "/models"
	start := time.Now()
	models, _, err := listModels(ctx, l.transport(u.Scheme), u.String(), headersUp(p, http.Header{}))
	shown := u.Scheme + "://" + u.Host + u.EscapedPath()
	took := max(1, time.Since(start).Milliseconds())
	var status *statusError
	switch {
	case err == nil:
		return Tested{OK: true, Models: models, LatencyMS: took}
	case errors.As(err, &status):
		hint := "look at the provider's status page or the server's log"
		switch {
		case status.code == 401 || status.code == 403:
			hint = "check the key: it is missing, wrong or not for this address"
		case status.code == 404:
			hint = "check base_url; it usually ends in /v1"
		case status.code == 429:
			hint = "the provider asks to wait: the limit or the credit is used up"
		case status.code >= 300 && status.code < 400:
			hint = "the address redirects; set base_url to where it leads, if you trust it"
		}
		return Tested{Code: "provider_status", At: shown, Status: status.code, Reason: fmt.Sprintf("%s answered %d", shown, status.code), Hint: hint}
	case errors.Is(err, errNoModels):
		return Tested{Code: "provider_no_models", At: shown, Reason: shown + " does not answer with a list of models", Hint: "check base_url; it usually ends in /v1"}
	}
	// These sentences say themselves what to do.
	why := explain(err, context.Cause(ctx), u)
	return Tested{Code: why.code, At: u.Scheme + "://" + u.Host, Reason: why.message}
}
