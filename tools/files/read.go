package files

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

const maxImageBytes = 8 << 20

var readParams = params{
	{name: "path", kind: "string", required: true, min: 1, about: "File to read: absolute, from the root folder, or with ~/."},
	{name: "start_line", kind: "integer", min: 1, max: 1 << 40, def: 1, about: "First line, from 1."},
	{name: "start_column", kind: "integer", min: 1, max: 1 << 40, def: 1, about: "First byte in that line, from 1; for going on inside a very long line with next_column."},
	{name: "end_line", kind: "integer", min: 1, max: 1 << 40, about: "Last line, included. Without it, max_lines and max_bytes decide."},
	{name: "max_lines", kind: "integer", min: 1, max: 1_000_000, def: 2000, about: "At most this many lines, 1 to 1000000."},
	{name: "max_bytes", kind: "integer", min: 64, max: 16 << 20, def: 262144, about: "At most this many bytes of the file, 64 to 16777216; cut between lines."},
	{name: "image", kind: "boolean", def: false, about: "Return a PNG, JPEG, GIF or WebP file (up to 8 MiB) as an image."},
}

type readFile struct{}

func (readFile) Spec() tools.Spec { return readSpec }

var readSpec = spec("read_file", "Read file",
	"Read a part of a text file, by default its first 2000 lines or 256 KiB. The answer tells the size, the encoding, whether there is more and with which line to go on, "+
		"and for files up to 512 KiB their hash (SHA-256); give it to edit_file as expect_hash. "+
		"UTF-8, UTF-16 with byte order mark and Latin-1 come as text. Other files are refused with their type and size; images can be had with image=true.",
	readOnly, readParams)

func (readFile) Plan(_ context.Context, args json.RawMessage) (tools.Plan, error) {
	v, err := readParams.decode("read_file", args)
	if err != nil {
		return tools.Plan{}, err
	}
	if v.given("end_line") && v.num("end_line") < v.num("start_line") {
		return tools.Plan{}, fmt.Errorf("read_file: end_line %d lies before start_line %d", v.num("end_line"), v.num("start_line"))
	}
	return tools.Plan{Uses: []tools.Use{{Path: v.str("path"), Op: permissions.OpRead}}}, nil
}

type readResult struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Encoding   string `json:"encoding,omitempty"`
	MimeType   string `json:"mime_type,omitempty"`
	StartLine  int64  `json:"start_line"`
	EndLine    int64  `json:"end_line"`
	Lines      int64  `json:"lines"`
	Truncated  bool   `json:"truncated"`
	NextLine   int64  `json:"next_line,omitempty"`
	NextColumn int64  `json:"next_column,omitempty"`
	TotalLines *int64 `json:"total_lines,omitempty"` // where the page met the end of the file
	Hash       string `json:"hash,omitempty"`
}

func (t readFile) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	v, err := readParams.decode("read_file", args)
	if err != nil {
		return tools.Result{}, err
	}
	pass, p, err := judged(ctx, "read_file")
	if err != nil {
		return tools.Result{}, err
	}
	f, info, err := openFile(p)
	if err != nil {
		return tools.Result{}, err
	}
	defer f.Close()
	if v.flag("image") {
		return readImage(f, info, p)
	}
	w := window{line: v.num("start_line"), column: v.num("start_column"), end: v.num("end_line"), maxLines: v.num("max_lines"), maxBytes: v.num("max_bytes")}
	told := int64(0)
	pg, err := readPage(ctx, f, info.Size(), w, func(done int64) {
		if done-told >= 256<<20 {
			told = done
			report(pass, done, info.Size(), "looking for the line")
		}
	})
	if err != nil {
		return tools.Result{}, fmt.Errorf("reading %s: %w", permissions.Visible(p.Real), cause(err))
	}
	if pg.binary {
		return refuseBinary(f, info, p)
	}
	if after, err := f.Stat(); err != nil || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		// Somebody writes to it right now: no hash could be relied on.
		pg.hash = ""
	}
	return pageResult(p, info, pg, w), nil
}

// openFile opens a judged path that must be a file.
func openFile(p permissions.Path) (*os.File, os.FileInfo, error) {
	switch p.Kind {
	case permissions.KindNone:
		return nil, nil, missing(p, "file")
	case permissions.KindDir:
		return nil, nil, fmt.Errorf("%s is a folder; list_directory shows what is in it", permissions.Visible(p.Real))
	}
	f, err := resolve.Open(p, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("reading %s: %w", permissions.Visible(p.Real), cause(err))
	}
	return f, info, nil
}

func pageResult(p permissions.Path, info os.FileInfo, pg page, w window) tools.Result {
	r := readResult{
		Path: permissions.EncodePath(p.Real), Size: info.Size(), Encoding: pg.enc.String(),
		StartLine: pg.start, EndLine: pg.end, Lines: pg.lines,
		Truncated: pg.next > 0, NextLine: pg.next, NextColumn: pg.nextColumn, Hash: pg.hash,
	}
	if pg.next == 0 {
		r.TotalLines = &pg.total
	}
	res := tools.Result{Content: []tools.Content{{Text: pg.text}}, Structured: marshal(r)}
	if note := pageNote(info.Size(), pg, w); note != "" {
		res.Content = append(res.Content, tools.Content{Text: note})
	}
	return res
}

// pageNote says to a model what it would else have to find in the structured
// part.
func pageNote(size int64, pg page, w window) string {
	note := ""
	add := func(format string, a ...any) { note += fmt.Sprintf(format, a...) }
	switch {
	case pg.stopped:
		add("Lines %d to %d of %s. Line %d holds NUL bytes and is not shown; lines behind it can be read with start_line=%d.", pg.start, pg.end, plural(size, "byte", "bytes"), pg.next, pg.next+1)
	case pg.nextColumn > 0:
		add("Part of line %d, which is very long, of a file of %s. Go on with start_line=%d, start_column=%d.", pg.end, plural(size, "byte", "bytes"), pg.next, pg.nextColumn)
	case pg.next > 0:
		add("Lines %d to %d of a file of %s. Go on with start_line=%d.", pg.start, pg.end, plural(size, "byte", "bytes"), pg.next)
	case pg.lines == 0 && size == 0:
		add("The file is empty.")
	case pg.lines == 0 && w.column > 1:
		add("Line %d ends before column %d.", w.line, w.column)
	case pg.lines == 0:
		add("The file has %s; there is no line %d.", plural(pg.total, "line", "lines"), w.line)
	}
	if pg.enc != encUTF8 {
		if note != "" {
			note += " "
		}
		add("Encoding: %s.", pg.enc)
	}
	if note == "" {
		return ""
	}
	return "[" + note + "]"
}

// head is enough of the start of a file to tell its type.
func head(f *os.File) ([]byte, error) {
	b := make([]byte, sniffLimit)
	n, err := f.ReadAt(b, 0)
	if n == 0 && err != nil {
		return nil, err
	}
	return b[:n], nil
}

func refuseBinary(f *os.File, info os.FileInfo, p permissions.Path) (tools.Result, error) {
	b, err := head(f)
	if err != nil {
		return tools.Result{}, fmt.Errorf("reading %s: %w", permissions.Visible(p.Real), cause(err))
	}
	kind := mediaType(b)
	say := fmt.Sprintf("%s is not text: %s, %s. It was not read.", permissions.Visible(p.Real), kind, plural(info.Size(), "byte", "bytes"))
	if slices.Contains(imageTypes, kind) {
		say += " With image=true it is returned as an image."
	}
	return failed("binary", say, map[string]any{"path": permissions.EncodePath(p.Real), "size": info.Size(), "mime_type": kind}), nil
}

// imageTypes are those that models take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func readImage(f *os.File, info os.FileInfo, p permissions.Path) (tools.Result, error) {
	b, err := head(f)
	if err != nil && info.Size() > 0 {
		return tools.Result{}, fmt.Errorf("reading %s: %w", permissions.Visible(p.Real), cause(err))
	}
	kind := mediaType(b)
	facts := map[string]any{"path": permissions.EncodePath(p.Real), "size": info.Size(), "mime_type": kind}
	if !slices.Contains(imageTypes, kind) {
		return failed("not_an_image", fmt.Sprintf("%s is %s, no PNG, JPEG, GIF or WebP image; leave image out to read text", permissions.Visible(p.Real), kind), facts), nil
	}
	if info.Size() > maxImageBytes {
		return failed("too_large", fmt.Sprintf("%s has %s; images are returned up to %s", permissions.Visible(p.Real), plural(info.Size(), "byte", "bytes"), plural(maxImageBytes, "byte", "bytes")), facts), nil
	}
	src, err := openSource(f, info.Size())
	if err != nil {
		return tools.Result{}, fmt.Errorf("reading %s: %w", permissions.Visible(p.Real), cause(err))
	}
	item := marshal(map[string]string{"type": "image", "mimeType": kind, "data": base64.StdEncoding.EncodeToString(src.data)})
	return tools.Result{
		Content:    []tools.Content{{Raw: item}},
		Structured: marshal(readResult{Path: permissions.EncodePath(p.Real), Size: info.Size(), MimeType: kind, Hash: sum(src.data)}),
	}, nil
}
