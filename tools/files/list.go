package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

// maxEntries bounds the memory of one listing.
const maxEntries = 500_000

var listParams = params{
	{name: "path", kind: "string", min: 1, def: ".", about: "Folder to list: absolute, from the root folder, or with ~/."},
	{name: "offset", kind: "integer", min: 0, max: maxEntries, def: 0, about: "Entries to pass over; use next of the answer before."},
	{name: "limit", kind: "integer", min: 1, max: 10_000, def: 1000, about: "Entries in one answer, 1 to 10000."},
}

type listDirectory struct{}

func (listDirectory) Spec() tools.Spec { return listSpec }

var listSpec = spec("list_directory", "List folder",
	"List one folder, one level deep: folders first, then by name, with type, size, time of change and link target. "+
		"By default 1000 entries come in one answer; total, truncated and next tell whether there are more.",
	readOnly, listParams)

func (listDirectory) Plan(_ context.Context, args json.RawMessage) (tools.Plan, error) {
	v, err := listParams.decode("list_directory", args)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{Uses: []tools.Use{{Path: v.str("path"), Op: permissions.OpList}}}, nil
}

type entry struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // "file", "folder", "link", "other", "unreadable"
	Size     *int64 `json:"size,omitempty"`
	Modified string `json:"modified,omitempty"` // RFC 3339, UTC
	Target   string `json:"target,omitempty"`
}

type listing struct {
	Path       string  `json:"path"`
	Entries    []entry `json:"entries"`
	Total      int     `json:"total"`
	Truncated  bool    `json:"truncated"`
	Next       int     `json:"next,omitempty"`
	Incomplete bool    `json:"incomplete,omitempty"` // the folder has more entries than are looked at
}

func (listDirectory) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	v, err := listParams.decode("list_directory", args)
	if err != nil {
		return tools.Result{}, err
	}
	_, p, err := judged(ctx, "list_directory")
	if err != nil {
		return tools.Result{}, err
	}
	switch p.Kind {
	case permissions.KindNone:
		return tools.Result{}, missing(p, "folder")
	case permissions.KindFile:
		return tools.Result{}, fmt.Errorf("%s is a file; read_file shows its text", permissions.Visible(p.Real))
	}
	dir, err := resolve.Open(p, os.O_RDONLY, 0)
	if err != nil {
		return tools.Result{}, err
	}
	defer dir.Close()
	l, err := list(ctx, dir, int(v.num("offset")), int(v.num("limit")))
	if err != nil {
		return tools.Result{}, fmt.Errorf("listing %s: %w", permissions.Visible(p.Real), cause(err))
	}
	l.Path = permissions.EncodePath(p.Real)
	return tools.Result{Content: []tools.Content{{Text: l.text()}}, Structured: marshal(l)}, nil
}

// folder is an open folder as entries are looked at in it.
type folder struct {
	fd   uintptr
	name string
}

// list reads the names of all entries and the rest only for the page wanted.
func list(ctx context.Context, dir *os.File, offset, limit int) (listing, error) {
	all, err := readEntries(ctx, dir, maxEntries)
	if err != nil {
		return listing{}, err
	}
	slices.SortFunc(all, func(a, b named) int {
		if a.kind.IsDir() != b.kind.IsDir() {
			if a.kind.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	page := all[min(offset, len(all)):min(offset+limit, len(all))]
	l := listing{Entries: make([]entry, len(page)), Total: len(all), Incomplete: len(all) >= maxEntries}
	at := folder{dir.Fd(), dir.Name()}
	var wg sync.WaitGroup
	var faults tools.Faults
	for start := 0; start < len(page); start += lookBatch {
		wg.Go(func() {
			defer faults.Catch()
			for i := start; i < min(start+lookBatch, len(page)) && ctx.Err() == nil; i++ {
				l.Entries[i] = describe(at, page[i])
			}
		})
	}
	wg.Wait()
	faults.Raise()
	if end := offset + len(page); end < len(all) {
		l.Truncated, l.Next = true, end
	}
	return l, ctx.Err()
}

// lookBatch is how many entries one goroutine looks at: enough for the work to
// be worth one.
const lookBatch = 2500

func describe(dir folder, n named) entry {
	e := entry{Name: permissions.EncodePath(n.name)}
	at, err := lookAt(dir, n)
	if err != nil {
		e.Type = "unreadable"
		return e
	}
	e.Modified = at.modified.UTC().Format(time.RFC3339Nano)
	switch {
	case at.mode.IsDir():
		e.Type = "folder"
	case at.mode.IsRegular():
		e.Type, e.Size = "file", &at.size
	case at.mode&fs.ModeSymlink != 0:
		e.Type, e.Target = "link", permissions.EncodePath(readLink(dir, n.name))
	default:
		e.Type = "other"
	}
	return e
}

// facts is what a listing tells about an entry.
type facts struct {
	mode     fs.FileMode
	size     int64
	modified time.Time
}

// text is the listing as a model reads it.
func (l listing) text() string {
	var b strings.Builder
	for _, e := range l.Entries {
		b.WriteString(shown(e.Name))
		switch e.Type {
		case "folder":
			b.WriteByte('/')
		case "file":
			b.WriteString("  ")
			b.WriteString(plural(*e.Size, "byte", "bytes"))
		case "link":
			b.WriteString(" -> ")
			b.WriteString(shown(e.Target))
		default:
			b.WriteString("  (" + e.Type + ")")
		}
		b.WriteByte('\n')
	}
	switch {
	case l.Total == 0:
		b.WriteString("[The folder is empty.]\n")
	case len(l.Entries) == 0:
		fmt.Fprintf(&b, "[The folder has %s; offset lies behind them.]\n", plural(int64(l.Total), "entry", "entries"))
	case l.Truncated:
		fmt.Fprintf(&b, "[%d of %s. Go on with offset=%d.]\n", len(l.Entries), plural(int64(l.Total), "entry", "entries"), l.Next)
	}
	if l.Incomplete {
		b.WriteString("[The folder has still more entries, which are not looked at.]\n")
	}
	return b.String()
}
