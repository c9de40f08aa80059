package guard

import (
	"net/http"
	"strings"
)

// ContentSecurityPolicy is sent with every answer. Scripts, styles and fonts
// come from the server itself only; nothing may frame the page; markup reaches
// the DOM only through the two named trusted-types policies.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
	"media-src 'self' blob:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; " +
	"form-action 'none'; require-trusted-types-for 'script'; trusted-types dompurify zeroclaw"

// apiHeaders are the request headers that the page on the configured UI
// origin may send to any route.
var apiHeaders = []string{"Authorization", "Content-Type", "Last-Event-ID", "Prefer"}

// llmHeaders are the request headers that openai 6.49.0 and
// @anthropic-ai/sdk 1.14.0 send from a browser, collected from their sources;
// the page may send them to /llm. (User-Agent is settable in Firefox.)
var llmHeaders = []string{
	"Accept", "User-Agent", "Idempotency-Key", "X-Api-Key",
	"OpenAI-Organization", "OpenAI-Project", "OpenAI-Beta",
	"Anthropic-Version", "Anthropic-Beta", "Anthropic-Dangerous-Direct-Browser-Access",
	"Anthropic-Workspace-Id", "Anthropic-Organization-Id", "Anthropic-User-Profile-Id", "Anthropic-Worker-Id",
	"X-Stainless-Arch", "X-Stainless-Custom-Poll-Interval", "X-Stainless-Helper", "X-Stainless-Helper-Method",
	"X-Stainless-Lang", "X-Stainless-OS", "X-Stainless-Package-Version", "X-Stainless-Poll-Helper",
	"X-Stainless-Retry-Count", "X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout",
	"Traceparent", "Tracestate", "Baggage",
}

// exposed are the answer headers that the page on the UI origin may read;
// the two SDKs look at all but the first.
const exposed = "WWW-Authenticate, Retry-After, Retry-After-Ms, X-Should-Retry, X-Request-Id, Request-Id, " +
	"Openai-Poll-After-Ms, Anthropic-Workspace-Id"

func isLLM(path string) bool { return strings.HasPrefix(path, "/llm/") }

// secure sets what every answer carries. Handlers may replace Cache-Control
// only; the rest is not theirs.
func secure(h http.Header) {
	for _, one := range carried {
		h[one.name] = one.value
	}
}

// carried is shared by all answers: whoever sets one of them replaces the list.
var carried = []struct {
	name  string
	value []string
}{
	{"Content-Security-Policy", []string{ContentSecurityPolicy}},
	{"X-Content-Type-Options", []string{"nosniff"}},
	{"Referrer-Policy", []string{"no-referrer"}},
	{"Cross-Origin-Resource-Policy", []string{"same-origin"}},
	{"Cache-Control", []string{"no-store"}},
}
