package services

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Vars are what ${root}, ${self}, ${node} and ${python} stand for. Node and
// Python are asked only when they are needed; their errors say how to get the
// program.
type Vars struct {
	Root, Self   string
	Node, Python func() (string, error)
}

// blank are variables for checking a definition without running anything.
func (Vars) blank() Vars {
	name := func(s string) func() (string, error) { return func() (string, error) { return s, nil } }
	return Vars{Root: "root", Self: "self", Node: name("node"), Python: name("python")}
}

// Expand returns the definition as it is to be started: option values applied
// and ${serviceDir}, ${root}, ${self}, ${node}, ${python} and ${option:ID}
// replaced in command, arguments, environment and cwd. Nothing else expands,
// and a value is not expanded again. values may lack options (their default is
// taken). A definition that is not a service's is returned as it is.
func Expand(s Spec, values map[string]any, v Vars) (Spec, error) {
	if s.Origin != OriginService {
		return s, nil
	}
	value := func(o Option) any {
		if x, ok := values[o.ID]; ok && checkValue(o, x) == nil {
			return x
		}
		return o.Default
	}
	var failed error
	one := func(text string) string {
		return replacePlaceholders(text, func(name string) (string, bool) {
			id, isOption := strings.CutPrefix(name, "option:")
			if isOption {
				i := slices.IndexFunc(s.Options, func(o Option) bool { return o.ID == id })
				if i < 0 {
					failed = errors.Join(failed, fmt.Errorf("${%s} names no option", name))
					return "", false
				}
				return fmt.Sprint(value(s.Options[i])), true
			}
			var path string
			var err error
			switch name {
			case "serviceDir":
				path = s.Dir
			case "root":
				path = v.Root
			case "self":
				path = v.Self
			case "node":
				path, err = ask(v.Node, name)
			case "python":
				path, err = ask(v.Python, name)
			default:
				return "", false
			}
			failed = errors.Join(failed, err)
			return path, true
		})
	}
	all := func(list []string) []string {
		out := make([]string, 0, len(list))
		for _, x := range list {
			out = append(out, one(x))
		}
		return out
	}

	out := s
	out.Command, out.Args, out.Env, out.Cwd = one(s.Command), all(s.Args), all(s.Env), one(s.Cwd)
	for _, o := range s.Options {
		x := value(o)
		on := x != "" && x != false
		if o.Type == OptionBoolean {
			if on {
				out.Args = append(out.Args, all(o.ArgsWhenTrue)...)
			} else {
				out.Args = append(out.Args, all(o.ArgsWhenFalse)...)
			}
		}
		if on {
			out.Args = append(out.Args, all(o.Args)...)
			for _, k := range sortedKeys(o.Env) {
				out.Env = append(out.Env, k+"="+one(o.Env[k]))
			}
		}
	}
	if out.Cwd == "" {
		out.Cwd = s.Dir
	} else if !filepath.IsAbs(out.Cwd) {
		out.Cwd = filepath.Join(s.Dir, out.Cwd)
	}
	for _, text := range append(append([]string{out.Command, out.Cwd}, out.Args...), out.Env...) {
		if strings.ContainsRune(text, 0) {
			failed = errors.Join(failed, fmt.Errorf("%q holds a NUL character", text))
		}
	}
	return out, failed
}

func ask(f func() (string, error), name string) (string, error) {
	if f == nil {
		return "", fmt.Errorf("${%s} is not known here", name)
	}
	return f()
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
