package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// object is an object of a document, with the document around it.
type object struct {
	*hujson.Object
	doc        []byte
	start, end int    // of the object in doc, with its braces
	indent     string // of the line that it begins on
	unit       string // what each level is indented by
	newline    string
	within     bool // the object around it stands on one line
}

// parse reads a document whose outermost value is an object.
func parse(doc []byte) (*object, error) {
	v, err := hujson.Parse(doc)
	if err != nil {
		// A comment may end with the document; the parser wants a line end behind it.
		if ended, bad := hujson.Parse(append(bytes.Clone(doc), '\n')); bad == nil {
			v, err = ended, nil
		}
	}
	if err != nil {
		var line, column int
		text := err.Error()
		if _, bad := fmt.Sscanf(text, "hujson: line %d, column %d:", &line, &column); bad != nil {
			return nil, err
		}
		_, why, _ := strings.Cut(text, ": ")
		_, why, _ = strings.Cut(why, ": ")
		at := 0
		for range line - 1 {
			at += bytes.IndexByte(doc[at:], '\n') + 1
		}
		return nil, placed(doc, at+column-1, errors.New(why))
	}
	top, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, placed(doc, v.StartOffset, &wrongKind{v.Value.Kind()})
	}
	o := &object{Object: top, doc: doc, start: v.StartOffset, end: v.EndOffset, unit: "  ", newline: "\n"}
	if at := bytes.IndexByte(doc, '\n'); at > 0 && doc[at-1] == '\r' {
		o.newline = "\r\n"
	}
	if len(top.Members) > 0 {
		if unit, ok := o.lineIndent(top.Members[0].Name.StartOffset); ok && unit != "" {
			o.unit = unit
		}
	}
	return o, nil
}

// lineIndent is the white space that the line of a position begins with. Where
// something else stands before the position, ok is false.
func (o *object) lineIndent(at int) (indent string, ok bool) {
	line := o.doc[bytes.LastIndexByte(o.doc[:at], '\n')+1 : at]
	blank := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:blank]), blank == len(line) && at > len(line)
}

// wrongKind says that a value is no object.
type wrongKind struct{ kind hujson.Kind }

func (w *wrongKind) Error() string {
	what := map[hujson.Kind]string{'[': "a list", '"': "a text", 'n': "null", 't': "true", 'f': "false", '0': "a number"}[w.kind]
	return "there is " + what + " where an object belongs"
}

// find is the index of a member, -1 if there is none. One that is there twice
// is an error: programs do not agree on which of them counts.
func (o *object) find(name string) (int, error) {
	found := -1
	for i, m := range o.Members {
		if m.Name.Value.(hujson.Literal).String() != name {
			continue
		}
		if found >= 0 {
			return -1, placed(o.doc, m.Name.StartOffset, fmt.Errorf("%s is there twice", encoded(name)))
		}
		found = i
	}
	return found, nil
}

func (o *object) has(name string) bool {
	at, err := o.find(name)
	return err == nil && at >= 0
}

// object is a member that is an object, nil if there is none. One that is
// something else is a wrongKind.
func (o *object) object(name string) (*object, error) {
	at, err := o.find(name)
	if err != nil || at < 0 {
		return nil, err
	}
	v := o.Members[at].Value
	inner, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, placed(o.doc, v.StartOffset, fmt.Errorf("%s: %w", encoded(name), &wrongKind{v.Value.Kind()}))
	}
	// Where several values share a line, its indentation is that of the first.
	indent, _ := o.lineIndent(v.StartOffset)
	return &object{Object: inner, doc: o.doc, start: v.StartOffset, end: v.EndOffset, indent: indent, unit: o.unit, newline: o.newline, within: o.inline()}, nil
}

// set is the document with another value of a member that is there.
func (o *object) set(name, value string) []byte {
	at, err := o.find(name)
	if err != nil || at < 0 {
		return o.doc
	}
	v := o.Members[at].Value
	indent, _ := o.lineIndent(v.StartOffset)
	return o.spliced(splice{v.StartOffset, v.EndOffset, o.laid(value, indent, o.inline())})
}

// inline reports whether the object stands on one line and is to stay there.
func (o *object) inline() bool {
	return (len(o.Members) > 0 || o.within) && bytes.IndexByte(o.doc[o.start:o.end], '\n') < 0
}

// add is the document with one more member, the last.
func (o *object) add(name, value string) []byte {
	member := encoded(name) + ": "
	if len(o.Members) == 0 {
		// Comments in an empty object stay above what comes.
		last := o.start + 1 + len(bytes.TrimRight(o.doc[o.start+1:o.end-1], " \t\r\n"))
		if o.inline() {
			return o.spliced(splice{last, o.end - 1, member + o.laid(value, "", true)})
		}
		inner := o.indent + o.unit
		return o.spliced(splice{last, o.end - 1, o.newline + inner + member + o.laid(value, inner, false) + o.newline + o.indent})
	}
	last := o.Members[len(o.Members)-1].Value
	trailing := last.AfterExtra != nil // then a comma follows the last member
	comma := last.EndOffset
	if trailing {
		comma += len(last.AfterExtra)
	}
	if o.inline() {
		gap := " "
		if bytes.HasPrefix(o.doc[o.start+1:], []byte(`"`)) && !bytes.Contains(o.doc[o.start:o.end], []byte(`": `)) {
			gap, member = "", encoded(name)+":" // nothing is spaced there
		}
		text := gap + member + o.laid(value, "", true)
		if trailing {
			return o.spliced(splice{comma + 1, comma + 1, text})
		}
		return o.spliced(splice{comma, comma, "," + text})
	}
	inner, ok := o.lineIndent(o.Members[len(o.Members)-1].Name.StartOffset)
	if !ok {
		inner = o.indent + o.unit
	}
	text := o.newline + inner + member + o.laid(value, inner, false)
	if trailing {
		at := o.pastComment(comma + 1)
		return o.spliced(splice{at, at, text + ","})
	}
	return o.spliced(splice{comma, comma, ","}, splice{o.pastComment(comma), 0, text})
}

// pastComment is the position behind the comments that stand on the rest of a
// line: they are about what is before them.
func (o *object) pastComment(at int) int {
	end := at
	for {
		rest := o.doc[end:]
		blank := len(rest) - len(bytes.TrimLeft(rest, " \t"))
		rest = rest[blank:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			n -= len(rest[:n]) - len(bytes.TrimRight(rest[:n], "\r"))
			return end + blank + n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest, []byte("*/")) + 2
			if bytes.IndexByte(rest[:n], '\n') >= 0 {
				return end
			}
			end += blank + n
		default:
			return end
		}
	}
}

// laid is a value of several lines as it stands behind a member name: with the
// indentation and line ends of the document, or on one line.
func (o *object) laid(value, indent string, inline bool) string {
	lines := strings.Split(value, "\n")
	for i, l := range lines {
		text := strings.TrimLeft(l, " ")
		depth := (len(l) - len(text)) / 2
		lines[i] = text
		if i > 0 && !inline {
			lines[i] = indent + strings.Repeat(o.unit, depth) + text
		}
	}
	if !inline {
		return strings.Join(lines, o.newline)
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 && strings.HasSuffix(lines[i-1], ",") {
			b.WriteString(" ")
		}
		b.WriteString(l)
	}
	return b.String()
}

// splice is a change of a document: text in place of what stands from start to
// end. Of several, those after the first put text in only.
type splice struct {
	start, end int
	text       string
}

// spliced is the document with changes that are in order.
func (o *object) spliced(all ...splice) []byte {
	var out []byte
	at := 0
	for _, s := range all {
		out = append(append(out, o.doc[at:s.start]...), s.text...)
		at = max(s.start, s.end)
	}
	return append(out, o.doc[at:]...)
}
