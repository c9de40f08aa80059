package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
	"zeroclaw/tools/atomicfile"
)

const (
	maxContent  = 1 << 20
	maxEditSize = 2 << 30
)

var editParams = params{
	{name: "path", kind: "string", required: true, min: 1, about: "File to change: absolute, from the root folder, or with ~/."},
	{name: "mode", kind: "string", enum: []string{"write", "append", "replace"}, about: "write: content becomes the entire file. append: content is put at the end, with nothing in between. replace: old_text becomes new_text. " +
		"Without mode: replace when old_text is given, else write."},
	{name: "content", kind: "string", max: maxContent, about: "write and append: the text, up to 1 MiB."},
	{name: "old_text", kind: "string", min: 1, max: maxContent, about: "replace: the text to find, exactly, with its spaces; no pattern. LF in it matches the line ends of the file. It must occur once, or set replace_all."},
	{name: "new_text", kind: "string", max: maxContent, about: "replace: the text to put there, taken literally; line ends become those of the file."},
	{name: "replace_all", kind: "boolean", def: false, about: "replace: change every occurrence."},
	{name: "expect_hash", kind: "string", min: 64, max: 64, about: "Refuse when the file does not have this hash (SHA-256 in hex, from read_file or an edit before), because somebody changed it."},
}

type editFile struct{ f *Files }

func (editFile) Spec() tools.Spec { return editSpec }

var editSpec = spec("edit_file", "Edit file",
	"Write a file, append to it, or replace text in it. The change is made whole or not at all; encoding, byte order mark, line ends, mode and owner of the file are kept, and only matched bytes change. "+
		"Missing folders are created. A link is followed and its target changed; of a file with several hard links only this name gets the new content. "+
		"Files up to 2 GiB. The answer has the new hash, the number of replacements and, where the file may be read, a diff.",
	destructive, editParams)

// editCall is one call with its arguments checked.
type editCall struct {
	path, expect string
	edit
}

func (e editFile) decode(args json.RawMessage) (editCall, error) {
	v, err := editParams.decode("edit_file", args)
	if err != nil {
		return editCall{}, err
	}
	c := editCall{path: v.str("path"), expect: strings.ToLower(v.str("expect_hash"))}
	c.edit = edit{mode: v.str("mode"), content: v.str("content"), old: v.str("old_text"), new: v.str("new_text"), all: v.flag("replace_all")}
	if c.mode == "" {
		if c.mode = "write"; v.given("old_text") {
			c.mode = "replace"
		}
	}
	need, useless := []string{"content"}, []string{"old_text", "new_text"}
	if c.mode == "replace" {
		need, useless = useless, need
	}
	for _, n := range need {
		if !v.given(n) {
			return c, fmt.Errorf("edit_file: mode %s needs the argument %q", c.mode, n)
		}
	}
	for _, n := range useless {
		if v.given(n) {
			return c, fmt.Errorf("edit_file: mode %s does not take the argument %q", c.mode, n)
		}
	}
	if namesFolder(c.path) {
		return c, fmt.Errorf("edit_file: argument %q ends like the name of a folder; give the name of a file", "path")
	}
	if c.mode != "replace" && c.all {
		return c, fmt.Errorf("edit_file: mode %s does not take the argument %q", c.mode, "replace_all")
	}
	if c.mode == "replace" && c.old == c.new {
		return c, fmt.Errorf("edit_file: old_text and new_text are the same; nothing would change")
	}
	if _, err := hex.DecodeString(c.expect); err != nil {
		return c, fmt.Errorf("edit_file: argument %q must be the 64 hex digits of a SHA-256", "expect_hash")
	}
	return c, nil
}

// namesFolder reports a path that can only be one of a folder by its end:
// cleaned, it would name a file that the caller did not mean.
func namesFolder(p string) bool {
	p = filepath.ToSlash(p)
	switch p[strings.LastIndexByte(p, '/')+1:] {
	case "", ".", "..":
		return true
	}
	return false
}

func (e editFile) Plan(_ context.Context, args json.RawMessage) (tools.Plan, error) {
	c, err := e.decode(args)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{
		Uses: []tools.Use{{Path: c.path, Op: permissions.OpWrite}},
		Preview: func(ctx context.Context, paths []permissions.Path) (string, error) {
			if len(paths) != 1 || paths[0].Err != "" {
				return "", errors.New("there is no judged path to make a diff for")
			}
			ch, err := c.prepare(ctx, paths[0], nil)
			if err != nil {
				return "", err
			}
			defer ch.close()
			return ch.diff(ctx)
		},
	}, nil
}

type editResult struct {
	Path         string `json:"path"`
	Hash         string `json:"hash"`
	Replacements int    `json:"replacements"`
	Bytes        int64  `json:"bytes"` // size of the file now
	Created      bool   `json:"created"`
	Encoding     string `json:"encoding"`
	UndoID       string `json:"undo_id,omitempty"`
	Diff         string `json:"diff,omitempty"`
	Note         string `json:"note,omitempty"`
}

func (e editFile) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	c, err := e.decode(args)
	if err != nil {
		return tools.Result{}, err
	}
	pass, p, err := judged(ctx, "edit_file")
	if err != nil {
		return tools.Result{}, err
	}
	done, err := e.f.alone(ctx, p.Real)
	if err != nil {
		return tools.Result{}, err
	}
	defer done()
	r, err := e.f.edit(ctx, pass, p, c)
	if errors.Is(err, resolve.ErrChanged) {
		// An edit that was waited for put another file in place. Where the rules
		// allow this one as well, nobody was shown what was there before.
		if again, v := pass.Judge(permissions.EncodePath(p.Real), permissions.OpWrite); v.Decision == permissions.Allow && again.Real == p.Real {
			r, err = e.f.edit(ctx, pass, again, c)
		}
	}
	var no *refusal
	if errors.As(err, &no) {
		facts := map[string]any{"path": permissions.EncodePath(p.Real)}
		for k, v := range no.facts {
			facts[k] = v
		}
		return failed(no.code, no.message, facts), nil
	}
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Content: []tools.Content{{Text: r.text(c)}}, Structured: marshal(r)}, nil
}

func (f *Files) edit(ctx context.Context, pass *tools.Pass, p permissions.Path, c editCall) (editResult, error) {
	kept := f.keep(pass)
	defer kept.discard()
	ch, err := c.prepare(ctx, p, kept)
	if err != nil {
		return editResult{}, err
	}
	defer ch.close()
	r := editResult{
		Path: permissions.EncodePath(p.Real), Hash: ch.was.hash, Bytes: ch.was.size,
		Created: ch.file == nil, Encoding: ch.was.enc.String(),
	}
	if c.mode == "replace" {
		r.Replacements = len(ch.pieces)
	}
	// The diff needs the old file, which is open as long as ch is.
	if mayShow(pass, p) {
		if r.Diff, err = ch.diff(ctx); err != nil {
			return editResult{}, err
		}
	}
	if len(ch.pieces) == 0 && ch.file != nil {
		r.Note = "content is empty, so nothing was changed"
		return r, nil
	}
	if ch.file == nil {
		err = resolve.MakeParents(p, 0o755)
	}
	if err == nil {
		r.Hash, r.Bytes, err = ch.carryOut(ctx, kept)
	}
	if err != nil {
		removeMadeParents(p)
		return editResult{}, err
	}
	var note []string
	if r.UndoID, err = kept.commit(); err != nil {
		note = append(note, err.Error())
	}
	if p.Links > 1 {
		note = append(note, fmt.Sprintf("the file had %d hard links; the other names keep the old content", p.Links))
	}
	r.Note = strings.Join(note, "; ")
	return r, nil
}

// removeMadeParents takes back the folders that were missing when p was judged,
// as far as they are empty.
func removeMadeParents(p permissions.Path) {
	for p.Real = path.Dir(p.Real); len(p.Real) > len(p.Dir); p.Real = path.Dir(p.Real) {
		root, name, err := resolve.OpenParent(p)
		if err != nil {
			continue
		}
		// One that is not empty, or was never made, stays as it is.
		_ = root.Remove(name)
		root.Close()
	}
}

// mayShow reports that the caller may see the content: a rule covers reading it
// and it is no file of which every read asks.
func mayShow(pass *tools.Pass, p permissions.Path) bool {
	return pass.MayRead != nil && pass.MayRead(p) && permissions.Protected(permissions.OpRead, p.Clean, p.Real) == ""
}

// carryOut writes the new content and returns its hash and size.
func (c *change) carryOut(ctx context.Context, kept *keeping) (hash string, size int64, err error) {
	root, name, err := resolve.OpenParent(c.path)
	if err != nil {
		return "", 0, err
	}
	defer root.Close()
	sum := sha256.New()
	content := io.TeeReader(&untilDone{ctx, &splice{f: c.reader(), size: c.was.size, pieces: c.pieces}}, sum)
	size, err = atomicfile.WriteIn(root, name, content, atomicfile.Options{Check: func(old os.FileInfo) error {
		if err := c.stillAsRead(ctx, old); err != nil {
			return err
		}
		hash = hex.EncodeToString(sum.Sum(nil))
		kept.record(c, hash)
		return nil
	}})
	return hash, size, err
}

// stillAsRead makes sure, right before the new content takes the name, that
// nobody wrote to the file meanwhile: the change would be lost.
func (c *change) stillAsRead(ctx context.Context, old os.FileInfo) error {
	changed := &refusal{"changed", fmt.Sprintf("%s was changed by somebody else in this moment; nothing was written, read it again", permissions.Visible(c.path.Real)), nil}
	if c.file == nil {
		if old != nil {
			return changed
		}
		return nil
	}
	now, err := c.file.Stat()
	if err != nil {
		return err
	}
	if old == nil || !os.SameFile(old, now) || now.Size() != c.info.Size() || !now.ModTime().Equal(c.info.ModTime()) {
		return changed
	}
	if c.was.size > memoryLimit {
		return nil
	}
	// Times are coarse; a small file is simply read again.
	again, err := takeSurvey(ctx, c.file, now.Size(), nil)
	if err != nil {
		return err
	}
	if again.hash != c.was.hash {
		return changed
	}
	return nil
}

// untilDone ends a long copy when its call is cancelled.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// text is the answer as a model reads it.
func (r editResult) text(c editCall) string {
	var b strings.Builder
	name := shown(r.Path)
	switch {
	case r.Created:
		fmt.Fprintf(&b, "Created %s (%s).", name, plural(r.Bytes, "byte", "bytes"))
	case c.mode == "replace":
		fmt.Fprintf(&b, "Changed %s: %s, now %s.", name, plural(int64(r.Replacements), "replacement", "replacements"), plural(r.Bytes, "byte", "bytes"))
	case c.mode == "append":
		fmt.Fprintf(&b, "Appended to %s, now %s.", name, plural(r.Bytes, "byte", "bytes"))
	default:
		fmt.Fprintf(&b, "Wrote %s (%s).", name, plural(r.Bytes, "byte", "bytes"))
	}
	fmt.Fprintf(&b, " Hash: %s.", r.Hash)
	if r.Note != "" {
		fmt.Fprintf(&b, " Note: %s.", r.Note)
	}
	if r.Diff != "" {
		b.WriteString("\n\n" + r.Diff)
	}
	return b.String()
}
