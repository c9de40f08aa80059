package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"zeroclaw/localserver"
	"zeroclaw/permissions"
)

// newExplain is zeroclaw explain: what the gate would say.
func newExplain(e environment) *cobra.Command {
	var batch, asJSON bool
	var cwd, root string
	c := &cobra.Command{
		Use:   "explain read|write|list|delete PATH | command -- COMMAND… | --batch",
		Short: "Say what would happen to a path or a command, and which rule decides",
		Long: strings.TrimSpace(`
Answers with the function that decides real calls, and runs nothing. --batch reads
JSON lines {"root","home","rules","op","path"} or {"root","home","rules","command",
"cwd","policy","mode"} from standard input and writes one verdict a line; keys that
are unknown, there twice or in another case make the verdict an error. Exits 3 when
a single path or command would be denied.`),
		Example: "  zeroclaw explain read ~/notes.md\n  zeroclaw explain command -- ls -la docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			if batch {
				return explainBatch(e.stdin, e.stdout)
			}
			q, err := queryOf(args)
			if err != nil {
				return err
			}
			q.Cwd = cwd
			a, err := e.explain(cmd, q, root)
			if err != nil {
				return err
			}
			return e.printAnswer(a, asJSON)
		},
	}
	c.Flags().BoolVar(&batch, "batch", false, "read JSON lines, write verdict lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&cwd, "cwd", "", "folder that the command runs in")
	c.Flags().StringVar(&root, "root", "", "folder that relative paths hang from (default: the running companion's, else the current folder)")
	return c
}

func queryOf(args []string) (localserver.Query, error) {
	usage := failure{err: errors.New("explain what? name an operation and a path, or a command"), hint: "zeroclaw explain --help shows how", code: exitUsage}
	if len(args) < 2 {
		return localserver.Query{}, usage
	}
	if args[0] == "command" {
		text := quoted(args[1:])
		return localserver.Query{Command: &text}, nil
	}
	if len(args) != 2 {
		return localserver.Query{}, usage
	}
	return localserver.Query{Op: permissions.Op(args[0]), Path: &args[1]}, nil
}

// quoted joins words so that a shell would read them back as they are. One
// word is taken as the entire text.
func quoted(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}~#!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// explain asks the running companion, whose live permissions count, or answers
// from the configuration.
func (e environment) explain(cmd *cobra.Command, q localserver.Query, root string) (localserver.Answer, error) {
	state, err := e.stateDir()
	if err != nil {
		return localserver.Answer{}, err
	}
	if root != "" {
		if q.Root, err = filepath.Abs(root); err != nil {
			return localserver.Answer{}, failure{err: fmt.Errorf("use --root %q: %w", root, err)}
		}
	}
	if i, err := localserver.Find(cmd.Context(), state); err == nil {
		var a localserver.Answer
		if err := i.Do(cmd.Context(), "POST", "/api/permissions/explain", q, &a); err != nil {
			return a, failure{err: fmt.Errorf("ask the companion: %w", err)}
		}
		return a, nil
	}
	if q.Root == "" {
		q.Root = e.cwd
	}
	q.Home = e.home
	a, err := localserver.ExplainFrom(state, q)
	if err != nil {
		return a, failure{err: err}
	}
	return a, nil
}

func (e environment) printAnswer(a localserver.Answer, asJSON bool) error {
	w := e.stdout
	if asJSON {
		if err := json.NewEncoder(w).Encode(a); err != nil {
			return failure{err: err}
		}
	} else {
		fmt.Fprintf(w, "%s: %s\n", a.Verdict, a.Reason)
		if a.Rule != "" {
			fmt.Fprintf(w, "  decided by %s\n", a.Rule)
		}
		for _, r := range a.Resolved {
			fmt.Fprintf(w, "  %s %s\n", r.Access, permissions.Visible(r.Path))
		}
		for _, p := range a.Proposed {
			fmt.Fprintf(w, "  the rule %s would allow it\n", p)
		}
		for _, r := range a.Inactive {
			fmt.Fprintf(w, "  the rule %s is there, but counts for another folder: \"Use here too\" in Settings → Permissions makes it count here\n", r)
		}
		fmt.Fprintf(w, "  %s\n", e.answeredFor(a.Root))
	}
	if a.Verdict == permissions.Deny || a.Verdict == permissions.Error {
		return failure{err: fmt.Errorf("the call would not run: %s", a.Reason), code: exitDenied}
	}
	return nil
}

// answeredFor says which folder an answer is about.
func (e environment) answeredFor(root string) string {
	if filepath.Clean(root) == filepath.Clean(e.cwd) {
		return "in " + root
	}
	return "in " + root + "; --root . asks about the current folder"
}

// maxBatchLine bounds one line of --batch, in bytes.
const maxBatchLine = 64 << 20

// explainBatch answers JSON lines in order. A line that cannot be read gets a
// verdict too, so that answers and questions stay side by side.
func explainBatch(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriter(out)
	answers := json.NewEncoder(w)
	answers.SetEscapeHTML(false)
	for {
		line, whole, err := readLine(lines)
		if err != nil && err != io.EOF {
			return failure{err: fmt.Errorf("read a line: %w", err)}
		}
		if !whole || len(bytes.TrimSpace(line)) > 0 {
			a := localserver.Unanswerable(fmt.Sprintf("the line is longer than %d MiB", maxBatchLine>>20))
			if whole {
				a = explainLine(line)
			}
			if err := answers.Encode(a); err != nil {
				return failure{err: fmt.Errorf("write a verdict: %w", err)}
			}
		}
		if err == io.EOF {
			return wrap(w.Flush())
		}
	}
}

func explainLine(line []byte) localserver.Answer {
	q, err := localserver.ReadQuery(line)
	if err != nil {
		return localserver.Unanswerable("the line cannot be read: " + err.Error())
	}
	return localserver.ExplainAlone(q)
}

// readLine reads up to the end of a line. Of one that is too long it keeps
// nothing and says so.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		piece, err := r.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= maxBatchLine; whole {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return line, whole, err
		}
	}
}
