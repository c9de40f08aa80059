// Package files owns the local tools that touch files: read_file, edit_file,
// list_directory and search_files, and the undo of an edit.
//
// A tool opens only what the gate judged: the paths of tools.Pass, through
// permissions/resolve, and never the path as the caller wrote it. Files that a
// search meets on the way are judged one by one before anything of them is
// returned.
//
// # Text
//
// Lines end with LF. Text is UTF-8, with or without a byte order mark, or
// UTF-16 with one; anything else that looks like text is taken for Latin-1, in
// which every byte is a character, so that reading and changing a part of it
// never harms the rest. An edit works on the bytes of the file: what lies
// outside the matches is copied, not converted.
//
// # Links
//
// A symbolic link is followed when the call is judged; the target is what is
// shown, read and replaced, and the link stays. A file with several hard links
// is replaced under the one name; the other names keep the old content.
//
// # Names
//
// A name that is not valid UTF-8 appears as permissions.EncodePath writes it
// and can be given back in that form.
//
// # Ignored files
//
// search_files has its own matcher for .gitignore: go-git's one brings forty
// modules into the build, and the rules fit into two hundred lines with a table
// of the documented cases beside them.
package files

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// Config is what the tools need from outside. The zero value works and keeps
// nothing for undo.
type Config struct {
	Undo         string           // folder for what edits replaced, created with mode 0700; "" = no undo
	MaxUndoBytes int64            // all kept content together; 0 = 256 MiB
	Now          func() time.Time // nil = time.Now
	Rand         io.Reader        // for undo ids; nil = crypto/rand
	Workers      int              // parallel readers of a search; 0 = GOMAXPROCS
}

// Files holds the tools and what they share.
type Files struct {
	cfg   Config
	mu    sync.Mutex
	busy  map[string]*turn // files that are being edited, by resolved path
	store sync.Mutex       // the undo folder
}

// New fills in defaults; nothing is touched before the first call.
func New(c Config) *Files {
	if c.MaxUndoBytes == 0 {
		c.MaxUndoBytes = 256 << 20
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return &Files{cfg: c, busy: map[string]*turn{}}
}

// Tools returns read_file, edit_file, list_directory and search_files. All of
// them are tools.Planner.
func (f *Files) Tools() []tools.Tool {
	return []tools.Tool{readFile{}, editFile{f}, listDirectory{}, searchFiles{f}}
}

// turn lets one edit of a file after the other through.
type turn struct {
	free    chan struct{} // holds one value while nobody edits the file
	waiting int
}

// alone waits until no other call edits the file at real.
func (f *Files) alone(ctx context.Context, real string) (done func(), err error) {
	f.mu.Lock()
	t := f.busy[real]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		f.busy[real] = t
	}
	t.waiting++
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			delete(f.busy, real)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("waiting for another edit of %s: %w", permissions.Visible(real), ctx.Err())
	}
}

func (f *Files) newID() (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(f.cfg.Rand, b[:]); err != nil {
		return "", fmt.Errorf("making an undo id: %w", err)
	}
	// The time in front makes ids sort by age.
	return fmt.Sprintf("%011x-%s", f.cfg.Now().UnixMilli(), hex.EncodeToString(b[:])), nil
}

// spec is the definition of a tool of this package.
func spec(name, title, description, annotations string, ps params) tools.Spec {
	return tools.Spec{
		Name: name, Origin: permissions.OriginLocal, OwnName: name,
		Title: title, Description: description,
		InputSchema: ps.schema(), Annotations: []byte(annotations),
	}
}

const (
	readOnly    = `{"readOnlyHint":true,"openWorldHint":false}`
	destructive = `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}`
)

// judged returns what the gate hands over for a call with one path.
func judged(ctx context.Context, tool string) (*tools.Pass, permissions.Path, error) {
	pass, ok := tools.PassFrom(ctx)
	if !ok || len(pass.Paths) != 1 {
		return nil, permissions.Path{}, fmt.Errorf("%s runs only through the gate, which judges its path", tool)
	}
	p := pass.Paths[0]
	switch {
	case p.Err != "":
		return nil, p, fmt.Errorf("%s: the path %q cannot be used: %s", tool, permissions.Visible(p.Given), p.Err)
	case p.OwnState:
		return nil, p, fmt.Errorf("%s: %s belongs to the companion itself", tool, permissions.Visible(p.Real))
	}
	return pass, p, nil
}

// missing reports a path where nothing stands.
func missing(p permissions.Path, what string) error {
	return fmt.Errorf("there is no %s at %s; list_directory shows what is there", what, permissions.Visible(p.Real))
}

func report(p *tools.Pass, done, total int64, message string) {
	if p.Progress != nil {
		p.Progress(tools.Progress{Done: float64(done), Total: float64(total), Message: message})
	}
}

// shown writes a name, as permissions.EncodePath wrote it, into a line of text: as
// it is where that is harmless, else as a JSON string, so that no name can end the
// line or hide itself.
func shown(name string) string {
	plain := name != "" && name == strings.TrimSpace(name) && name[0] != '"'
	for _, r := range name {
		if r == '\u2028' || r == '\u2029' || unicode.In(r, unicode.Cc, unicode.Cf) {
			plain = false
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range name {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\u2028' || r == '\u2029' || unicode.In(r, unicode.Cc, unicode.Cf) && r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plural writes a number with thousands separators and its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s + " " + many
}

// failed is a Result for a failure that carries facts a client can act on.
func failed(code, message string, facts map[string]any) tools.Result {
	if facts == nil {
		facts = map[string]any{}
	}
	facts["error"] = code
	r := tools.Text(message)
	r.IsError = true
	r.Structured = marshal(facts)
	return r
}

// cause drops the path that os errors repeat, and keeps the error.
func cause(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
