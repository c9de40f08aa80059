package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is how much text of one message is searchable, in bytes.
const maxWords = 64 << 10

// dull are keys whose values nobody searches for.
var dull = map[string]bool{"id": true, "type": true, "role": true, "call_id": true, "tool_call_id": true, "tool_use_id": true, "provider_id": true, "rule": true,
	"mime": true, "mimeType": true, "media_type": true, "signature": true, "encrypted_content": true, "result_id": true, "hash": true,
	"model_text": true, "key": true, "by": true, "status": true, "server": true, "session": true, "started": true, "kind": true,
	"provider": true, "profile": true, "model": true, "finish": true, "undo_id": true, "encoding": true}

// frameLine is what surrounds the text of a tool for a model to read: no words
// of anybody.
var frameLine = regexp.MustCompile(`(?m)^</?[a-z-]+ (?:server="[^"\n]*" tool="[^"\n]*" trust="untrusted-external" )?boundary="[a-z0-9]+">\n?`)

// words collects what people may search for in the data of a message: all
// strings, except identifiers and encoded blobs.
func words(data json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out strings.Builder
	var stack []json.Delim
	key, isKey := "", false
	for out.Len() < maxWords {
		t, err := d.Token()
		if err != nil {
			break
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				stack = append(stack, t)
			default:
				stack = stack[:len(stack)-1]
			}
			isKey = len(stack) > 0 && stack[len(stack)-1] == '{'
			continue
		case string:
			if isKey {
				key, isKey = t, false
				continue
			}
			if !dull[key] && !blob(t) {
				if out.Len() > 0 {
					out.WriteByte('\n')
				}
				out.WriteString(frameLine.ReplaceAllString(t, ""))
			}
		}
		isKey = len(stack) > 0 && stack[len(stack)-1] == '{'
	}
	text := out.String()
	if len(text) > maxWords {
		n := maxWords
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return strings.ReplaceAll(text, "\x00", " ")
}

// blob reports whether s is encoded data rather than language.
func blob(s string) bool {
	return strings.HasPrefix(s, "data:") || len(s) > 512 && !strings.ContainsAny(s[:512], " \n\t") && isASCII(s[:512])
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Hit is one find. Seq is 0 when the title was hit. Snippet marks what was
// found with U+2039 and U+203A.
type Hit struct {
	Conversation string `json:"conversation"`
	Title        string `json:"title"`
	Seq          int64  `json:"seq"`
	Snippet      string `json:"snippet"`
}

const markOpen, markClose = "\u2039", "\u203a"

// maxTerms and maxQuery bound a search.
const (
	maxTerms = 16
	maxQuery = 512
)

// Search finds conversations whose title, and messages whose text, hold every
// word of q, the last of which may be the beginning of one. Case and accents
// do not count. Titles come first, then the best messages; at most limit (0 is
// 50, at most 200) of each. No word, no hit.
func (s *Store) Search(ctx context.Context, q string, limit int) ([]Hit, error) {
	if len(q) > maxQuery {
		return nil, fmt.Errorf("q %w: it is longer than %d bytes", ErrInvalid, maxQuery)
	}
	hits := []Hit{}
	terms := termsOf(q)
	if len(terms) == 0 {
		return hits, nil
	}
	h, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	limit = bound(limit, 50, 200)
	var like strings.Builder
	args := []any{}
	for _, t := range terms {
		like.WriteString(` AND title LIKE ? ESCAPE '\'`)
		args = append(args, "%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(t)+"%")
	}
	rows, err := h.read.QueryContext(ctx, `SELECT id, title FROM conversations WHERE 1`+like.String()+` ORDER BY updated DESC LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, explain("search", err)
	}
	defer rows.Close()
	for rows.Next() {
		var x Hit
		if err := rows.Scan(&x.Conversation, &x.Title); err != nil {
			return nil, explain("search", err)
		}
		x.Snippet = mark(x.Title, terms[0])
		hits = append(hits, x)
	}
	if err := rows.Err(); err != nil {
		return nil, explain("search", err)
	}
	found, err := s.searchMessages(ctx, h, terms, limit)
	return append(hits, found...), explain("search", err)
}

// searchMessages asks the index. Writing without spaces is indexed as long
// words, so a term in it is looked for as a piece of text instead.
func (s *Store) searchMessages(ctx context.Context, h *handles, terms []string, limit int) ([]Hit, error) {
	query := `SELECT m.conversation, c.title, m.seq, snippet(search, 0, ?, ?, '…', 16) FROM search
		JOIN messages m ON m.n = search.rowid JOIN conversations c ON c.id = m.conversation
		WHERE search MATCH ? ORDER BY rank LIMIT ?`
	var match strings.Builder
	for i, t := range terms {
		match.WriteString(`"` + strings.ReplaceAll(t, `"`, `""`) + `" `)
		if i == len(terms)-1 {
			match.WriteString("*")
		}
	}
	args := []any{markOpen, markClose, match.String(), limit}
	unspaced := strings.ContainsFunc(strings.Join(terms, ""), func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
	})
	if unspaced {
		args = nil
		query = `SELECT m.conversation, c.title, m.seq, m.words FROM messages m JOIN conversations c ON c.id = m.conversation WHERE 1`
		for _, t := range terms {
			query += ` AND instr(m.words, ?)`
			args = append(args, t)
		}
		query += ` ORDER BY m.n DESC LIMIT ?`
		args = append(args, limit)
	}
	rows, err := h.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []Hit
	for rows.Next() {
		var x Hit
		if err := rows.Scan(&x.Conversation, &x.Title, &x.Seq, &x.Snippet); err != nil {
			return nil, err
		}
		if unspaced {
			x.Snippet = mark(x.Snippet, terms[0])
		}
		hits = append(hits, x)
	}
	return hits, rows.Err()
}

// termsOf splits a query into words. What has no letter or digit finds
// nothing in the index and is left out.
func termsOf(q string) []string {
	var terms []string
	for _, t := range strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(q, " "), "\x00", " ")) {
		if strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) && len(terms) < maxTerms {
			terms = append(terms, t)
		}
	}
	return terms
}

// mark cuts text around the first place of term and marks it.
func mark(text, term string) string {
	const around = 60
	runes, want := []rune(text), []rune(term)
	for i := 0; i+len(want) <= len(runes); i++ {
		if !strings.EqualFold(string(runes[i:i+len(want)]), term) {
			continue
		}
		from, to := max(0, i-around), min(len(runes), i+len(want)+around)
		left, right := "", ""
		if from > 0 {
			left = "…"
		}
		if to < len(runes) {
			right = "…"
		}
		return left + string(runes[from:i]) + markOpen + string(runes[i:i+len(want)]) + markClose + string(runes[i+len(want):to]) + right
	}
	if len(runes) > 2*around {
		return string(runes[:2*around]) + "…"
	}
	return text
}
