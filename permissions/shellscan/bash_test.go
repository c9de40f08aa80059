package shellscan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

// harness is what the real bash runs. It is restricted (no redirection to
// files, no program by path), has an empty folder as PATH and no builtins but
// those used below, so that even a text that should never have been sent can
// do nothing but print.
//
// For each text of a batch it prints two readings, each as a count and that
// many words, all ended by NUL: the words behind "set --", and the words that
// a function of the name of the first word gets when the text is run. The
// second shows reserved words, assignments and the like; it is only made when
// the name can be a function's.
const harness = `
emit() { builtin printf '%s\0' "$#" "$@"; }
enable -n $(compgen -A enabled | while read -r b; do
  case $b in builtin|eval|set|printf|mapfile|read|enable) ;; *) builtin printf '%s ' "$b";; esac; done)
enable -n enable
while builtin read -r file; do
  builtin mapfile -d '' -t batch < "$file"
  for ((i = 0; i < ${#batch[@]}; i += 2)); do
    builtin set -- $'\1no words'
    builtin eval "builtin set -- ${batch[i+1]}"
    emit "$@"
    got=($'\1not run')
    if [[ ${batch[i]} ]]; then
      builtin eval "function ${batch[i]} { got=(\"\$FUNCNAME\" \"\$@\"); }"
      builtin eval "${batch[i+1]}"
    fi
    emit "${got[@]}"
  done
  builtin printf 'end\0'
done
`

// functionName allows the first words that are defined as functions. Those
// that the harness itself lives on are left out.
var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func canRun(name string) bool {
	return functionName.MatchString(name) && name != "builtin" && name != "emit" && name != "got" && name != "batch" && name != "file" && name != "i"
}

type realBash struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	dir   string
	files int
}

func startBash(ctx context.Context, t *testing.T) *realBash {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no bash to compare with on Windows")
	}
	program, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed: nothing to compare with")
	}
	if err := exec.Command(program, "--norc", "--noprofile", "-c", "(( BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4 ))").Run(); err != nil {
		t.Skip("bash is older than 4.4, which the comparison needs (mapfile -d)")
	}
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, "--norc", "--noprofile", "--restricted", "-c", harness)
	cmd.Dir = empty
	cmd.Env = []string{"PATH=" + empty, "HOME=/home/u", "LC_ALL=C.UTF-8"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &realBash{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20), dir: dir}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return b
}

// reading is what bash makes of one text.
type reading struct{ set, run []string }

// read sends one batch. Only texts that the scan called plain words come here.
func (b *realBash) read(batch []permissions.Command) ([]reading, error) {
	var buf bytes.Buffer
	for _, c := range batch {
		name := ""
		if canRun(c.Argv[0]) {
			name = c.Argv[0]
		}
		buf.WriteString(name + "\x00" + c.Text + "\x00")
	}
	b.files = (b.files + 1) % 4
	file := filepath.Join(b.dir, "batch"+strconv.Itoa(b.files))
	if err := os.WriteFile(file, buf.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(b.in, file+"\n"); err != nil {
		return nil, err
	}
	out := make([]reading, len(batch))
	for i := range out {
		var err error
		if out[i].set, err = b.list(); err != nil {
			return nil, err
		}
		if out[i].run, err = b.list(); err != nil {
			return nil, err
		}
	}
	end, err := b.item()
	if err == nil && end != "end" {
		err = fmt.Errorf("bash and the test lost step: %q", end)
	}
	return out, err
}

func (b *realBash) item() (string, error) {
	s, err := b.out.ReadString(0)
	return strings.TrimSuffix(s, "\x00"), err
}

func (b *realBash) list() ([]string, error) {
	s, err := b.item()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > MaxBytes {
		return nil, fmt.Errorf("bash and the test lost step: %q is no count", s)
	}
	out := make([]string, n)
	for i := range out {
		if out[i], err = b.item(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compare returns what is wrong with the scan of each text of a batch.
func (b *realBash) compare(batch []permissions.Command) ([]string, error) {
	got, err := b.read(batch)
	if err != nil {
		return nil, err
	}
	var bad []string
	for i, c := range batch {
		if !slices.Equal(got[i].set, c.Argv) {
			bad = append(bad, fmt.Sprintf("%q is %s with argv %q, and bash has the words %q", c.Text, c.Class, c.Argv, got[i].set))
		} else if canRun(c.Argv[0]) && !slices.Equal(got[i].run, c.Argv) {
			bad = append(bad, fmt.Sprintf("%q is %s with argv %q, and bash runs %q", c.Text, c.Class, c.Argv, got[i].run))
		}
	}
	return bad, nil
}

// TestAgainstBash generates commands and compares Argv with the words that the
// real bash makes of the same text, for everything that the scan takes for
// plain words. Set ZEROCLAW_FUZZ to a duration ("2m") for a longer run.
func TestAgainstBash(t *testing.T) {
	length := 3 * time.Second
	if s := os.Getenv("ZEROCLAW_FUZZ"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), length+30*time.Second)
	defer cancel()
	bash := startBash(ctx, t)
	seed := uint64(time.Now().UnixNano())
	g := generator{rand.New(rand.NewPCG(seed, 0))}

	const batchSize = 2000
	start := time.Now()
	counts := map[permissions.CommandClass]int{}
	total, compared, disagreed := 0, 0, 0
	batch := make([]permissions.Command, 0, batchSize)
	for time.Since(start) < length {
		for batch = batch[:0]; len(batch) < batchSize; {
			c := Scan(g.command())
			total++
			counts[c.Class]++
			if c.Class != permissions.Ambiguous {
				batch = append(batch, c)
			}
		}
		bad, err := bash.compare(batch)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, errors.Join(err, ctx.Err()))
		}
		compared += len(batch)
		disagreed += len(bad)
		for _, s := range bad[:min(len(bad), 10)] {
			t.Errorf("seed %d: %s", seed, s)
		}
		if disagreed > 100 {
			t.Fatal("too many disagreements")
		}
	}
	took := time.Since(start).Seconds()
	t.Logf("%d commands in %.0f s (%.0f a second): %d simple, %d unmodelled, %d ambiguous; %d compared with bash, %d disagreements",
		total, took, float64(total)/took, counts[permissions.Simple], counts[permissions.Unmodelled], counts[permissions.Ambiguous], compared, disagreed)
	for _, class := range []permissions.CommandClass{permissions.Simple, permissions.Unmodelled, permissions.Ambiguous} {
		if counts[class]*50 < total {
			t.Errorf("only %d of %d commands are %s: the comparison says little", counts[class], total, class)
		}
	}
}

// TestBashHarness shows that the comparison can fail: for texts that are not
// plain words, bash must not report the naive splitting.
func TestBashHarness(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	bash := startBash(ctx, t)
	naive := func(text string) permissions.Command {
		return permissions.Command{Text: text, Argv: strings.Fields(text), Class: permissions.Simple}
	}
	for _, text := range []string{"cat $HOME", "cat ~", "cat a{b,c}", "cat 'a b'", `cat a\b`, "time cat a", "A=b cat", "cat a #b",
		"cat a; cat b", "! cat a", "cat a &", `cat "a`, "if cat a", "/bin/true a", "cat $'a'", "cat a > b", "cat $(( 1 + 1 ))"} {
		c := naive(text)
		bad, err := bash.compare([]permissions.Command{c})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(bad) != 1 && text != "/bin/true a" {
			t.Errorf("%q: the harness sees no difference to %q", text, c.Argv)
		}
	}
	if bad, err := bash.compare([]permissions.Command{naive("cat a b"), naive("./cat a"), naive("eval cat a")}); err != nil || len(bad) > 0 {
		t.Errorf("plain words: %v %v", bad, err)
	}
	if left, err := os.ReadDir(filepath.Join(bash.dir, "empty")); err != nil || len(left) > 0 {
		t.Errorf("the texts left files: %v %v", left, err)
	}
}
