package services

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Vars are what ${root}, ${self}, ${node} and ${python} stand for. Node and
// Python are asked only when they are needed, may run programs for minutes, and
// end with their context; their errors say how to get the program.
type Vars struct {
	Root, Self   string
	Node, Python func(context.Context) (string, error)
}

// blank are variables for checking a definition without running anything.
func (Vars) blank() Vars { return Vars{Root: "root", Self: "self"}.still() }

// still are v for showing a definition without running anything: ${node} and
// ${python} stand for their bare names.
func (v Vars) still() Vars {
	name := func(s string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return s, nil }
	}
	v.Node, v.Python = name("node"), name("python")
	return v
}

// Expand returns the definition as it is to be started: option values applied
// and ${serviceDir}, ${root}, ${self}, ${node}, ${python} and ${option:ID}
// replaced in command, arguments, environment and cwd. Nothing else expands,
// and a value is not expanded again. values may lack options (their default is
// taken). Of a definition that is not a service's nothing expands; without a
// folder it starts in the root. ctx ends the programs that are asked for
// ${node} and ${python}.
func Expand(ctx context.Context, s Spec, values map[string]any, v Vars) (Spec, error) {
	if s.Origin != OriginService {
		if s.Cwd == "" && s.Dir == "" && !s.remote() {
			s.Cwd = v.Root
		}
		return s, nil
	}
	e := expansion{ctx: ctx, spec: s, values: values, vars: v}
	out := s
	out.Command, out.Args, out.Env, out.Cwd = e.one(s.Command), e.all(s.Args), e.all(s.Env), e.one(s.Cwd)
	for _, o := range s.Options {
		args, env := e.option(o)
		out.Args, out.Env = append(out.Args, args...), append(out.Env, env...)
	}
	if out.Cwd == "" {
		out.Cwd = s.Dir
	} else if !filepath.IsAbs(out.Cwd) {
		out.Cwd = filepath.Join(s.Dir, out.Cwd)
	}
	for _, text := range append(append([]string{out.Command, out.Cwd}, out.Args...), out.Env...) {
		if strings.ContainsRune(text, 0) {
			e.failed = errors.Join(e.failed, fmt.Errorf("%q holds a NUL character", text))
		}
	}
	return out, e.failed
}

// expansion is one Expand; failed gathers everything that is wrong.
type expansion struct {
	ctx    context.Context
	spec   Spec
	values map[string]any
	vars   Vars
	failed error
}

// value is what an option is set to, its default when that does not fit.
func (e *expansion) value(o Option) any {
	if x, ok := e.values[o.ID]; ok && checkValue(o, x) == nil {
		return x
	}
	return o.Default
}

// option is what an option adds to the arguments and the environment.
func (e *expansion) option(o Option) (args, env []string) {
	x := e.value(o)
	on := x != "" && x != false
	switch {
	case o.Type == OptionBoolean && on:
		args = e.all(o.ArgsWhenTrue)
	case o.Type == OptionBoolean:
		args = e.all(o.ArgsWhenFalse)
	}
	if !on {
		return args, nil
	}
	args = append(args, e.all(o.Args)...)
	for _, k := range sortedKeys(o.Env) {
		env = append(env, k+"="+e.one(o.Env[k]))
	}
	return args, env
}

func (e *expansion) all(list []string) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		out = append(out, e.one(x))
	}
	return out
}

func (e *expansion) one(text string) string { return replacePlaceholders(text, e.placeholder) }

// placeholder is what ${name} stands for, unless it is just text.
func (e *expansion) placeholder(name string) (string, bool) {
	if id, isOption := strings.CutPrefix(name, "option:"); isOption {
		i := slices.IndexFunc(e.spec.Options, func(o Option) bool { return o.ID == id })
		if i < 0 {
			e.failed = errors.Join(e.failed, fmt.Errorf("${%s} names no option", name))
			return "", false
		}
		return fmt.Sprint(e.value(e.spec.Options[i])), true
	}
	var path string
	var err error
	switch name {
	case "serviceDir":
		path = e.spec.Dir
	case "root":
		path = e.vars.Root
	case "self":
		path = e.vars.Self
	case "node":
		path, err = e.ask(e.vars.Node, name)
	case "python":
		path, err = e.ask(e.vars.Python, name)
	default:
		return "", false
	}
	e.failed = errors.Join(e.failed, err)
	return path, true
}

func (e *expansion) ask(f func(context.Context) (string, error), name string) (string, error) {
	if f == nil {
		return "", fmt.Errorf("${%s} is not known here", name)
	}
	return f(e.ctx)
}

// replacePlaceholders replaces each ${name} that value knows and leaves the
// others as they are.
func replacePlaceholders(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			break
		}
		n := strings.IndexByte(text[i:], '}')
		if n < 0 {
			break
		}
		b.WriteString(text[:i])
		if v, ok := value(text[i+2 : i+n]); ok {
			b.WriteString(v)
			text = text[i+n+1:]
		} else {
			b.WriteString("${")
			text = text[i+2:]
		}
	}
	return b.String() + text
}

// checkValue says whether x is a value that the option takes.
func checkValue(o Option, x any) error {
	switch o.Type {
	case OptionBoolean:
		if _, ok := x.(bool); !ok {
			return fmt.Errorf("option %q must be true or false", o.ID)
		}
		return nil
	case OptionEnum:
		if t, ok := x.(string); !ok || !slices.Contains(o.Choices, t) {
			return fmt.Errorf("option %q must be one of %s", o.ID, strings.Join(o.Choices, ", "))
		}
		return nil
	}
	t, ok := x.(string)
	switch {
	case !ok:
		return fmt.Errorf("option %q must be text", o.ID)
	case strings.ContainsRune(t, 0):
		return fmt.Errorf("option %q holds a NUL character", o.ID)
	case len(t) > 32<<10:
		return fmt.Errorf("option %q is longer than 32768 bytes", o.ID)
	case o.Type == OptionPath && t != "" && !filepath.IsAbs(t):
		return fmt.Errorf("option %q must be an absolute path", o.ID)
	}
	return nil
}

func zeroValue(o Option) any {
	switch {
	case o.Type == OptionBoolean:
		return false
	case o.Type == OptionEnum && len(o.Choices) > 0:
		return o.Choices[0]
	}
	return ""
}
