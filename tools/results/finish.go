package results

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// Objects stores what is too big for a model, and media.
type Objects interface {
	// Put stores data for an owner (Call.Owner) and returns the id under which
	// read_tool_result and the page find it. Data is text in UTF-8 when mime
	// begins with "text/".
	Put(ctx context.Context, owner, mime string, data []byte) (id string, err error)
}

// Config configures a Finisher.
type Config struct {
	Objects  Objects
	Redact   func(string) string             // required
	MaxChars func(agent string) int          // how much of a result a model gets, in bytes; nil is DefaultMaxChars
	Media    func(agent, server string) bool // whether images and audio of a server are admitted; nil admits none
	Rand     io.Reader                       // for boundaries; required
}

const (
	// DefaultMaxChars is max_tool_result_chars where no profile sets it.
	DefaultMaxChars = 32768
	// maxMedia bounds one image or sound after decoding, in bytes.
	maxMedia = 10 << 20
)

// Finisher implements tools.Finisher.
type Finisher struct{ config Config }

// New returns a Finisher.
func New(c Config) *Finisher {
	if c.MaxChars == nil {
		c.MaxChars = func(string) int { return DefaultMaxChars }
	}
	if c.Media == nil {
		c.Media = func(string, string) bool { return false }
	}
	return &Finisher{config: c}
}

// Finish implements tools.Finisher.
func (f *Finisher) Finish(ctx context.Context, c tools.Call, s tools.Spec, r tools.Result, o *tools.Outcome) {
	var model strings.Builder
	for _, item := range r.Content {
		shown, text := f.item(ctx, c, s, item)
		if shown != nil {
			o.Content = append(o.Content, shown)
		}
		if text != "" {
			if model.Len() > 0 {
				model.WriteString("\n")
			}
			model.WriteString(text)
		}
	}
	if len(r.Structured) > 0 {
		o.Structured = json.RawMessage(f.config.Redact(string(r.Structured)))
		if len(r.Content) == 0 {
			model.Write(o.Structured)
		}
	}
	text := model.String()
	if limit := f.config.MaxChars(c.Agent); len(text) > limit {
		text, o.ResultID = f.preview(ctx, c, text, limit)
	}
	o.ModelText = f.Frame("tool-result", s.Server, s.Name, text)
}

// item returns one content item for people and its text for models.
func (f *Finisher) item(ctx context.Context, c tools.Call, s tools.Spec, item tools.Content) (json.RawMessage, string) {
	if item.Raw == nil {
		text := f.config.Redact(item.Text)
		return textItem(text), text
	}
	var head struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
			Blob string `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(item.Raw, &head); err != nil {
		note := "[a content item could not be read and was left out]"
		return textItem(note), note
	}
	switch head.Type {
	case "text":
		text := f.config.Redact(head.Text)
		return textItem(text), text
	case "image", "audio":
		return f.media(ctx, c, s, head.Type, head.Data)
	case "resource_link":
		return f.redacted(item.Raw), f.config.Redact(fmt.Sprintf("[link to resource %s %s]", head.Name, head.URI))
	case "resource":
		if head.Resource.Blob != "" {
			note := fmt.Sprintf("[attachment unavailable: %s]", head.Resource.URI)
			return textItem(note), note
		}
		return f.redacted(item.Raw), f.config.Redact(head.Resource.Text)
	}
	note := fmt.Sprintf("[content of the unknown type %q was left out]", head.Type)
	return textItem(note), note
}

// media admits one image or sound: the type is read off the bytes, never
// believed, and active types such as SVG are refused.
func (f *Finisher) media(ctx context.Context, c tools.Call, s tools.Spec, kind, data string) (json.RawMessage, string) {
	left := func(why string) (json.RawMessage, string) {
		note := fmt.Sprintf("[%s left out: %s]", kind, why)
		return textItem(note), note
	}
	if s.Origin != permissions.OriginLocal && !f.config.Media(c.Agent, s.Server) {
		why := fmt.Sprintf("media of %s are not admitted for this agent", s.Server)
		_, note := left(why)
		// Only the person is told how to admit them.
		shown, _ := left(fmt.Sprintf("%s; media = [%q] under [agents.%s] in config.toml admits them", why, s.Server, c.Agent))
		return shown, note
	}
	if base64.StdEncoding.DecodedLen(len(data)) > maxMedia+2 {
		return left(fmt.Sprintf("it is over %d bytes", maxMedia))
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) > maxMedia {
		return left("its data are not valid or too long")
	}
	mime, _, _ := strings.Cut(mimetype.Detect(raw).String(), ";")
	if Admitted(mime) != kind {
		return left("its bytes are " + mime)
	}
	id, err := f.config.Objects.Put(ctx, c.Owner(), mime, raw)
	if err != nil {
		return left(err.Error())
	}
	shown, _ := json.Marshal(map[string]any{"type": kind, "mimeType": mime, "result_id": id, "size": len(raw)})
	return shown, fmt.Sprintf("[%s %s, %d bytes, shown to the user; stored as %s]", kind, mime, len(raw), id)
}

// Admitted is what a page may show a media type as without running anything in
// it: "image", "audio" or "" for nothing.
func Admitted(mime string) string {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return "image"
	case "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "audio/x-m4a", "audio/webm":
		return "audio"
	}
	return ""
}

func (f *Finisher) redacted(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(f.config.Redact(string(raw)))
}

func textItem(text string) json.RawMessage {
	out, _ := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	return out
}
