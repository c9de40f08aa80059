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
// A batch holds three fields a text: a name to define as a function first (or
// nothing), how to read the text, and the text. "run" runs it, and the function
// keeps the words that it was called with; this shows reserved words,
// assignments and whatever else is special about the first word. "set" asks for
// the words behind "set --". The answer is a count and that many words, all
// ended by NUL.
const harness = `
enable -n $(compgen -A enabled | while read -r b; do
  case $b in builtin|eval|set|printf|mapfile|read|enable) ;; *) builtin printf '%s ' "$b";; esac; done)
enable -n enable
while builtin read -r file; do
  builtin mapfile -d '' -t batch < "$file"
  for ((i = 0; i < ${#batch[@]}; i += 3)); do
    if [[ ${batch[i]} ]]; then
      builtin eval "function ${batch[i]} { got=(\"\$FUNCNAME\" \"\$@\"); }"
    fi
    got=($'\1nothing')
    if [[ ${batch[i+1]} == run ]]; then
      builtin eval "${batch[i+2]}"
    else
      builtin eval "builtin set -- ${batch[i+2]}" && got=("$@")
    fi
    builtin printf '%s\0' "${#got[@]}" "${got[@]}"
  done
  builtin printf 'end\0'
done
`

// notRun is the answer to "run" when no function was called.
var notRun = []string{"\x01nothing"}

// functionName allows the first words that are defined as functions. Those
// that the harness itself lives on are left out.
var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func canRun(name string) bool {
	return functionName.MatchString(name) && name != "builtin"
}

type realBash struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	dir   string
	files int

	defined map[string]bool // functions that exist over there
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
	b := &realBash{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20), dir: dir, defined: map[string]bool{}}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return b
}

// question is one text and the words that bash has to answer.
type question struct {
	permissions.Command
	mode string
	want []string
}

// questions asks for the words by running the text, where the first word can
// be a function. Where it cannot, one text in ask is run to see that nothing
// else in it is: that costs a process.
func questions(batch []permissions.Command, ask int) []question {
	out := make([]question, 0, len(batch))
	for i, c := range batch {
		switch name := c.Argv[0]; {
		case canRun(name):
			out = append(out, question{c, "run", c.Argv})
		case i%ask == 0 && !strings.Contains(name, "/"):
			out = append(out, question{c, "set", c.Argv}, question{c, "run", notRun})
		default:
			out = append(out, question{c, "set", c.Argv})
		}
	}
	return out
}

// send writes a batch to where bash reads it. Only texts that the scan called
// plain words come here.
func (b *realBash) send(batch []question) error {
	var buf bytes.Buffer
	for _, q := range batch {
		define := ""
		if name := q.Argv[0]; canRun(name) && !b.defined[name] {
			define = name
			b.defined[name] = true
		}
		buf.WriteString(define + "\x00" + q.mode + "\x00" + q.Text + "\x00")
	}
	b.files = (b.files + 1) % 4
	file := filepath.Join(b.dir, "batch"+strconv.Itoa(b.files))
	if err := os.WriteFile(file, buf.Bytes(), 0o600); err != nil {
		return err
	}
	_, err := io.WriteString(b.in, file+"\n")
	return err
}

// answers reads what bash made of a batch and returns the disagreements.
func (b *realBash) answers(batch []question) ([]string, error) {
	var bad []string
	for _, q := range batch {
		got, err := b.list()
		if err != nil {
			return nil, err
		}
		if !slices.Equal(got, q.want) {
			bad = append(bad, fmt.Sprintf("%q is %s with argv %q, and bash (%s) has %q", q.Text, q.Class, q.Argv, q.mode, got))
		}
	}
	end, err := b.item()
	if err == nil && end != "end" {
		err = fmt.Errorf("bash and the test lost step: %q", end)
	}
	return bad, err
}

func (b *realBash) ask(batch []question) ([]string, error) {
	if err := b.send(batch); err != nil {
		return nil, err
	}
	return b.answers(batch)
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
	total, compared, disagreed, own := 0, 0, 0, 0
	generate := func() []question {
		batch := make([]permissions.Command, 0, batchSize)
		for len(batch) < batchSize {
			c, found := classify(g.command(), "linux")
			if len(found) > 0 && found[0].Kind == KindDisagree {
				own++
			}
			total++
			counts[c.Class]++
			if c.Class != permissions.Ambiguous {
				batch = append(batch, c)
			}
		}
		compared += batchSize
		return questions(batch, 16)
	}
	// The next batch is made while bash works on this one.
	for next := generate(); time.Since(start) < length && disagreed <= 100; {
		batch := next
		if err := bash.send(batch); err != nil {
			t.Fatal(err)
		}
		next = generate()
		bad, err := bash.answers(batch)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, errors.Join(err, ctx.Err()))
		}
		disagreed += len(bad)
		for _, s := range bad[:min(len(bad), 10)] {
			t.Errorf("seed %d: %s", seed, s)
		}
	}
	compared -= batchSize
	took := time.Since(start).Seconds()
	t.Logf("%d commands in %.0f s (%.0f a second): %d simple, %d unmodelled, %d ambiguous; %d compared with bash, %d disagreements; the two readers of the scan differ on %d",
		total, took, float64(total)/took, counts[permissions.Simple], counts[permissions.Unmodelled], counts[permissions.Ambiguous], compared, disagreed, own)
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
	naive := func(text string) []question {
		return questions([]permissions.Command{{Text: text, Argv: strings.Fields(text), Class: permissions.Simple}}, 1)
	}
	if _, err := bash.ask(naive("cat a")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"cat $HOME", "cat ~", "cat a{b,c}", "cat 'a b'", `cat a\b`, "time cat a", "A=b cat", "cat a #b",
		"cat a; cat b", "! cat a", "cat a &", `cat "a`, "if cat a", "cat $'a'", "cat a > b", "cat $(( 1 + 1 ))"} {
		bad, err := bash.ask(naive(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(bad) == 0 {
			t.Errorf("%q: the harness sees no difference to %q", text, strings.Fields(text))
		}
	}
	for _, text := range []string{"cat a b", "./cat a", "eval cat a", "/bin/true a", "set -x a", "exit 1", "exec a", "%1 a", "read a"} {
		if bad, err := bash.ask(naive(text)); err != nil || len(bad) > 0 {
			t.Errorf("%q are plain words: %v %v", text, bad, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(bash.dir, "empty")); err != nil || len(left) > 0 {
		t.Errorf("the texts left files: %v %v", left, err)
	}
}
