package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

var searchParams = params{
	{name: "query", kind: "string", min: 1, max: 4096, about: "Text to find in the lines of files. Leave it out to list the files whose names fit glob."},
	{name: "path", kind: "string", min: 1, def: ".", about: "Folder to search with everything below, or one file."},
	{name: "glob", kind: "string", min: 1, max: 4096, about: "Only these files: *.go fits names at any depth, src/**/*.ts paths below the folder. *, ?, **, [a-z] and {a,b} are special."},
	{name: "regex", kind: "boolean", def: false, about: "query is a regular expression in RE2 syntax."},
	{name: "case", kind: "boolean", def: true, about: "Upper and lower case differ; false finds both."},
	{name: "context", kind: "integer", min: 0, max: 10, def: 0, about: "Lines before and after each match, 0 to 10."},
	{name: "max_matches", kind: "integer", min: 1, max: 2000, def: 200, about: "Stop after so many matching lines, 1 to 2000."},
}

type searchFiles struct{ f *Files }

func (searchFiles) Spec() tools.Spec { return searchSpec }

var searchSpec = spec("search_files", "Search files",
	"Find text in the files below a folder, or files by name. What .gitignore names, .git, binary files, files over 8 MiB, links, protected files and files that may not be read are passed over; the answer counts them. "+
		"Each matching line counts once; long lines are cut around the match.",
	readOnly, searchParams)

type searchCall struct {
	values
	glob   glob
	finder *finder
}

func decodeSearch(args json.RawMessage) (searchCall, error) {
	v, err := searchParams.decode("search_files", args)
	if err != nil {
		return searchCall{}, err
	}
	c := searchCall{values: v}
	if !v.given("query") && !v.given("glob") {
		return c, errors.New("search_files needs query (text in files) or glob (names of files), or both")
	}
	if v.given("glob") {
		if c.glob, err = newGlob(v.str("glob")); err != nil {
			return c, fmt.Errorf("search_files: %w", err)
		}
	}
	if v.given("query") {
		if c.finder, err = newFinder(v.str("query"), v.flag("regex"), v.flag("case"), int(v.num("context"))); err != nil {
			return c, fmt.Errorf("search_files: %w", err)
		}
	}
	return c, nil
}

func (searchFiles) Plan(_ context.Context, args json.RawMessage) (tools.Plan, error) {
	c, err := decodeSearch(args)
	if err != nil {
		return tools.Plan{}, err
	}
	// Not a walk: what lies below is judged as it is met, and passed over where
	// it may not be seen, so that it is no reason to ask.
	return tools.Plan{Uses: []tools.Use{{Path: c.str("path"), Op: permissions.OpList}}}, nil
}

type searchResult struct {
	Matches       []match `json:"matches"`
	FilesSearched int64   `json:"files_searched"`
	Skipped       skipped `json:"skipped"`
	Truncated     bool    `json:"truncated"`
}

func (t searchFiles) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	c, err := decodeSearch(args)
	if err != nil {
		return tools.Result{}, err
	}
	pass, p, err := judged(ctx, "search_files")
	if err != nil {
		return tools.Result{}, err
	}
	if pass.Judge == nil || pass.MayRead == nil {
		return tools.Result{}, errors.New("search_files runs only through the gate, which judges what it finds")
	}
	s := &search{
		ctx: ctx, pass: pass, real: strings.TrimSuffix(p.Real, "/"), given: givenFolder(c.str("path")),
		covered: pass.MayRead(p), glob: c.glob, finder: c.finder, limit: int(c.num("max_matches")),
	}
	switch p.Kind {
	case permissions.KindNone:
		return tools.Result{}, missing(p, "folder")
	case permissions.KindFile:
		err = s.oneFile(p)
	default:
		err = s.all(p, t.f.cfg.Workers)
	}
	if err != nil {
		return tools.Result{}, fmt.Errorf("searching %s: %w", permissions.Visible(p.Real), cause(err))
	}
	return s.finish(), nil
}

// givenFolder is how results start, so that they can be given to a later call.
func givenFolder(given string) string {
	if given = path.Clean(filepath.ToSlash(permissions.DecodePath(given))); given == "." {
		return ""
	}
	return strings.TrimSuffix(given, "/") + "/"
}

func (s *search) all(p permissions.Path, workers int) error {
	var err error
	if s.base, err = openFolder(p); err != nil {
		return err
	}
	defer s.base.Close()
	return s.run(workers, s.rulesAbove())
}

// openFolder opens the judged folder as a root to stay in.
func openFolder(p permissions.Path) (*os.Root, error) {
	f, err := resolve.Open(p, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	root, err := os.OpenRoot(filepath.FromSlash(p.Real))
	if err != nil {
		return nil, err
	}
	want, err := f.Stat()
	if err == nil {
		var got os.FileInfo
		if got, err = root.Stat("."); err == nil && !os.SameFile(want, got) {
			err = resolve.ErrChanged
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// rulesAbove reads the .gitignore files from the session's root down to the
// searched folder, those of them that the rules let it read.
func (s *search) rulesAbove() *ignores {
	root := strings.TrimSuffix(filepath.ToSlash(s.pass.Root), "/")
	if s.pass.Root == "" || !below(root, s.real) {
		return nil
	}
	var rules *ignores
	names := strings.Split(s.real[len(root)+1:], "/")
	for i := range names {
		dir := path.Join(append([]string{root}, names[:i]...)...)
		p, v := s.pass.Judge(permissions.EncodePath(dir+"/.gitignore"), permissions.OpRead)
		if v.Decision != permissions.Allow || p.Kind != permissions.KindFile {
			continue
		}
		f, info, err := openFile(p)
		if err != nil {
			continue
		}
		b := make([]byte, min(info.Size(), maxIgnoreFile))
		n, _ := f.ReadAt(b, 0)
		f.Close()
		if own := parseIgnore(string(b[:n])); len(own) > 0 {
			rules = &ignores{above: rules, rules: own, prefix: strings.Join(names[i:], "/") + "/"}
		}
	}
	return rules
}

// oneFile searches a file that the call names itself: glob and .gitignore do
// not matter.
func (s *search) oneFile(p permissions.Path) error {
	if s.finder == nil {
		return errors.New("it is a file; give a query to find in it, or a folder to find names in")
	}
	shownAs := strings.TrimSuffix(s.given, "/")
	dir, name := path.Split(p.Real)
	s.real, s.given = strings.TrimSuffix(dir, "/"), ""
	f, info, err := openFile(p)
	if err != nil {
		return err
	}
	defer f.Close()
	s.searched.Add(1)
	s.wake = sync.NewCond(&s.mu)
	if found, _, _ := s.look(f, nil); len(found) > 0 {
		s.result("", name, info, found)
	}
	for i := range s.matches {
		s.matches[i].Path = permissions.EncodePath(shownAs)
	}
	return nil
}

func (s *search) finish() tools.Result {
	slices.SortStableFunc(s.matches, func(a, b match) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	r := searchResult{Matches: s.matches, FilesSearched: s.searched.Load(), Skipped: s.skip, Truncated: s.stopped || s.more}
	if r.Matches == nil {
		r.Matches = []match{}
	}
	if len(r.Matches) > s.limit {
		r.Matches = r.Matches[:s.limit]
	}
	return tools.Result{Content: []tools.Content{{Text: r.text(s.finder == nil)}}, Structured: marshal(r)}
}

// text is the answer as a model reads it, in the manner of grep -n.
func (r searchResult) text(names bool) string {
	var b strings.Builder
	for i, m := range r.Matches {
		name := shown(m.Path)
		if names {
			b.WriteString(name + "\n")
			continue
		}
		context := len(m.Before)+len(m.After) > 0
		if context && i > 0 {
			b.WriteString("--\n")
		}
		for k, l := range m.Before {
			fmt.Fprintf(&b, "%s-%d-%s\n", name, m.Line-len(m.Before)+k, l)
		}
		fmt.Fprintf(&b, "%s:%d:%s\n", name, m.Line, m.Text)
		for k, l := range m.After {
			fmt.Fprintf(&b, "%s-%d-%s\n", name, m.Line+1+k, l)
		}
	}
	what := "matching line"
	if names {
		what = "file"
	}
	fmt.Fprintf(&b, "[%s", plural(int64(len(r.Matches)), what, what+"s"))
	if !names {
		fmt.Fprintf(&b, ", %s searched", plural(r.FilesSearched, "file", "files"))
	}
	if r.Truncated {
		b.WriteString(", there are more: narrow the search or raise max_matches")
	}
	var left []string
	for _, c := range []struct {
		n    int64
		what string
	}{
		{r.Skipped.Binary, "binary"}, {r.Skipped.Large, "over 8 MiB"}, {r.Skipped.Protected, "protected"}, {r.Skipped.Outside, "outside"},
		{r.Skipped.OwnState, "of the companion itself"}, {r.Skipped.Ignored, "ignored by .gitignore"}, {r.Skipped.Unreadable, "unreadable"},
	} {
		if c.n > 0 {
			left = append(left, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if left != nil {
		b.WriteString("; passed over: " + strings.Join(left, ", "))
	}
	b.WriteString("]\n")
	return b.String()
}
