package results

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// Bounds of the files embedded in one result.
const (
	maxAttachments     = 64
	maxAttachmentBytes = 10_485_760 // all together, by base64Text.estimate
)

// attachment is what became of an embedded file.
type attachment struct {
	marker   string // what a model gets: where the file is, or why not
	path     string // "" when it was not stored
	size     int64
	detected string // the type that its bytes show
}

// embedded is a file in a result: a resource with a blob.
type embedded struct {
	uri  string
	data base64Text
}

// attach stores the files embedded in a result in the uploads of the session.
// The bounds are checked before anything is decoded: when they are exceeded
// nothing is written. One bad file does not harm the others.
func (f *Finisher) attach(c tools.Call, items []tools.Content) map[int]attachment {
	found := map[int]embedded{}
	var order []int
	var size int64
	for i, item := range items {
		if one, ok := embeddedIn(item.Raw); ok {
			found[i] = one
			order = append(order, i)
			size += one.data.estimate()
		}
	}
	if len(found) == 0 {
		return nil
	}
	out := make(map[int]attachment, len(found))
	why := ""
	switch {
	case len(found) > maxAttachments:
		why = "too many embedded blobs in one result"
	case size > maxAttachmentBytes:
		why = "aggregate blob size exceeds limit"
	}
	if why != "" {
		for _, i := range order {
			out[i] = unavailable(why)
		}
		return out
	}
	u := uploads{workspace: f.config.Uploads(c)}
	defer u.close()
	for _, i := range order {
		out[i] = u.attach(found[i])
	}
	return out
}

func unavailable(why string) attachment {
	return attachment{marker: "[attachment unavailable: " + why + "]"}
}

// embeddedIn tells an embedded file by its shape.
func embeddedIn(raw json.RawMessage) (one embedded, ok bool) {
	kind, resource := "", json.RawMessage(nil)
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "type":
			kind = jsonparts.Text(value)
		case "resource":
			resource = value
		}
	}
	if kind != "resource" {
		return one, false
	}
	for key, value := range jsonparts.Members(resource) {
		switch key {
		case "uri":
			one.uri = jsonparts.Text(value)
		case "blob":
			if ok = value[0] == '"'; ok {
				one.data = base64Of(value)
			}
		}
	}
	return one, ok
}

// attach stores one file.
func (u *uploads) attach(e embedded) attachment {
	sum := sha256.New()
	size, detected, err := e.data.look(sum)
	switch {
	case errors.Is(err, errTooLong):
		return unavailable(fmt.Sprintf("Embedded resource exceeds 10 MB limit (%d bytes)", e.data.estimate()))
	case err != nil:
		var at base64.CorruptInputError
		why := err.Error()
		if errors.As(err, &at) {
			why = "bad character at " + strconv.FormatInt(int64(at), 10)
		}
		return unavailable("Invalid base64: " + why)
	}
	name := hex.EncodeToString(sum.Sum(nil)) + extension(e.uri)
	if err := u.put(name, size, e.data.reader); err != nil {
		return unavailable(tools.ModelText(err.Error(), 300))
	}
	a := attachment{path: filepath.Join(u.workspace, "uploads", name), size: size, detected: detected}
	if strings.HasPrefix(detected, "image/") && !strings.Contains(detected, "svg") {
		a.marker = "[IMAGE:" + a.path + "]"
	} else {
		a.marker = "[Document: " + displayName(e.uri) + "] " + a.path
	}
	return a
}

// withAttachment is the resource of an item without its blob, and with what
// became of it.
func (f *Finisher) withAttachment(resource json.RawMessage, a attachment) json.RawMessage {
	out := f.rebuilt(resource, func(key string, value json.RawMessage) json.RawMessage {
		switch key {
		case "blob", "materialized", "path", "size", "detected":
			return nil // ours to say
		}
		return f.redactJSON(value)
	})
	says := map[string]any{"materialized": a.marker}
	if a.path != "" {
		says["path"], says["size"], says["detected"] = a.path, a.size, a.detected
	}
	ours, _ := json.Marshal(says)
	if len(out) <= 2 {
		return ours
	}
	return append(append(out[:len(out)-1:len(out)-1], ','), ours[1:]...)
}

// lastSegment is what stands behind the last slash of a uri, of either kind.
func lastSegment(uri string) string {
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "file://"), "attachment://")
	return uri[strings.LastIndexAny(uri, `/\`)+1:]
}

// longestExtension bounds what a server may put behind the name of a file.
const longestExtension = 16

// extension is the extension of a uri with its dot, or "".
func extension(uri string) string {
	if i := strings.IndexAny(uri, "?#"); i >= 0 && !strings.HasPrefix(uri, "file:") {
		uri = uri[:i]
	}
	name := lastSegment(uri)
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	ext := strings.ToLower(name[i+1:])
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
	if ext == "" || len(ext) > longestExtension || strings.IndexFunc(ext, func(r rune) bool { return !plain(r) }) >= 0 {
		return ""
	}
	return "." + ext
}

// longestName bounds a display name, in bytes.
const longestName = 120

// displayName is what an embedded file is called. It is the server's word: in
// it is nothing that could end the marker it stands in or begin another.
func displayName(uri string) string {
	name := lastSegment(uri)
	var b strings.Builder
	for _, r := range name {
		switch {
		case b.Len() >= longestName:
		case r == '[' || r == ']' || r < ' ' || r == 0x7f || r == utf8.RuneError || tools.ModelText(string(r), utf8.UTFMax) != string(r):
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
	}
	if name = strings.ReplaceAll(b.String(), "..", "_"); name == "" {
		return "upload.bin"
	}
	return name
}
