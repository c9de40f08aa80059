package results

import (
	"context"
	"encoding/json"
	"io"

	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// Objects stores what is too big for a model, and media.
type Objects interface {
	// PutFrom stores what r gives for an owner (Call.Owner) and returns the id
	// under which read_tool_result and the page find it. It is text in UTF-8
	// when mime begins with "text/".
	PutFrom(ctx context.Context, owner, mime string, r io.Reader) (id string, err error)
}

// Config configures a Finisher.
type Config struct {
	Objects  Objects
	Redact   func(string) string             // required
	MaxChars func(agent string) int          // how much of a result a model gets, in bytes; nil is DefaultMaxChars
	Media    func(agent, server string) bool // whether images and audio of a server are admitted; nil admits none
	// Uploads is the folder of a call's session, an absolute path: embedded
	// files go to uploads/ in it. Both are made when they are first needed. nil
	// or "": there is none, and a person and the model are told so.
	Uploads func(tools.Call) string
	Rand    io.Reader // for boundaries; required
	// Memory bounds what the results that are being finished at one time take
	// up, in bytes: others wait their turn. 0 is DefaultMemory.
	Memory int64
}

const (
	// DefaultMaxChars is max_tool_result_chars where no profile sets it.
	DefaultMaxChars = 32768
	// DefaultMemory holds two results of the largest size at a time: finishing
	// one takes its size once more.
	DefaultMemory = 64 << 20
	// smallResult is up to which size a result does not wait its turn.
	smallResult = 1 << 20
)

// Finisher implements tools.Finisher.
type Finisher struct {
	config Config
	frames Framer
	room   *room
}

// New returns a Finisher.
func New(c Config) *Finisher {
	if c.MaxChars == nil {
		c.MaxChars = func(string) int { return DefaultMaxChars }
	}
	if c.Media == nil {
		c.Media = func(string, string) bool { return false }
	}
	if c.Uploads == nil {
		c.Uploads = func(tools.Call) string { return "" }
	}
	if c.Memory <= 0 {
		c.Memory = DefaultMemory
	}
	return &Finisher{config: c, frames: Framer{Redact: c.Redact, Rand: c.Rand}, room: newRoom(c.Memory)}
}

// Finish implements tools.Finisher.
func (f *Finisher) Finish(ctx context.Context, c tools.Call, s tools.Spec, r tools.Result, o *tools.Outcome) {
	if size := sizeOf(r); size > smallResult {
		defer f.room.take(2 * size)()
	}
	if c.Client == tools.ClientMCP {
		o.Whole = f.whole(r)
		return
	}
	one := finishing{Finisher: f, ctx: ctx, call: c, spec: s, attached: f.attach(c, r.Content)}
	var model parts
	for i, item := range r.Content {
		shown, text := one.item(i, item)
		if shown != nil {
			o.Content = append(o.Content, shown)
		}
		model.add(text)
	}
	if len(r.Structured) > 0 {
		o.Structured = f.redactJSON(r.Structured)
		if len(r.Content) == 0 {
			model.add(string(o.Structured))
		}
	}
	text := ""
	if limit := f.config.MaxChars(c.Agent); model.size > limit {
		text, o.ResultID = one.preview(model, limit)
	} else {
		text = model.join()
	}
	o.ModelText = f.Frame("tool-result", s.Server, s.Name, text)
}

// finishing is one result on its way.
type finishing struct {
	*Finisher
	ctx      context.Context
	call     tools.Call
	spec     tools.Spec
	attached map[int]attachment // by the index of the item
}

// sizeOf is what a result takes up, in bytes.
func sizeOf(r tools.Result) int64 {
	size := len(r.Structured) + len(r.Whole)
	for _, item := range r.Content {
		size += len(item.Text) + len(item.Raw)
	}
	return int64(size)
}

// textItem is a text as a content item.
func textItem(text string) json.RawMessage {
	const head, tail = `{"type":"text","text":`, `}`
	out := make([]byte, 0, len(head)+len(text)+len(text)/16+len(tail)+16)
	out = append(out, head...)
	return append(jsonparts.AppendText(out, text), tail...)
}
