package results

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"zeroclaw/permissions"
	"zeroclaw/tools/jsonparts"
)

// maxMedia bounds one image, sound or embedded file after decoding, in bytes.
const maxMedia = MaxAttachment

// MaxAttachment is how many bytes an embedded file may have.
const MaxAttachment = 10 << 20

// admitKey is the member of a person's item that says which agent would have to
// admit the media of which server. It is ours alone: a server's is taken out.
const admitKey = "admit"

// Base64Size is how many bytes the base64 in a JSON string holds, at most.
func Base64Size(raw json.RawMessage) int64 { return base64Of(raw).estimate() }

// media admits one image or sound: the type is read off the bytes, never
// believed, and active types such as SVG are refused. Nothing of it is decoded
// but the base64.
func (f *finishing) media(kind string, data json.RawMessage) (json.RawMessage, string) {
	left := func(why string) (json.RawMessage, string) {
		note := fmt.Sprintf("[%s left out: %s]", kind, why)
		return textItem(note), note
	}
	if s := f.spec; s.Origin != permissions.OriginLocal && !f.config.Media(f.call.Agent, s.Server) {
		_, note := left(fmt.Sprintf("media of %s are not admitted for this agent", s.Server))
		// Only the person is told who would have to admit whose.
		shown, _ := json.Marshal(map[string]any{"type": "text", "text": note, admitKey: map[string]string{"kind": kind, "agent": f.call.Agent, "server": s.Server}})
		return shown, note
	}
	b := base64Of(data)
	if b.estimate() > maxMedia {
		return left(fmt.Sprintf("it is over %d bytes", maxMedia))
	}
	size, mime, err := b.look(io.Discard)
	if err != nil {
		return left("its data are not valid or too long")
	}
	if Admitted(mime) != kind {
		return left("its bytes are " + mime)
	}
	id, err := f.config.Objects.PutFrom(f.ctx, f.call.Owner(), mime, b.reader())
	if err != nil {
		return left(err.Error())
	}
	shown, _ := json.Marshal(map[string]any{"type": kind, "mimeType": mime, "result_id": id, "size": size})
	return shown, fmt.Sprintf("[%s %s, %d bytes, shown to the user; stored as %s]", kind, mime, size, id)
}

// Admitted is what a page may show a media type as without running anything in
// it: "image", "audio" or "" for nothing.
func Admitted(mime string) string {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return "image"
	case "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "audio/x-m4a", "audio/webm":
		return "audio"
	}
	return ""
}

// base64Text is standard base64 that is decoded as it is read, never as a whole.
type base64Text string

// base64Of is the base64 in a JSON string.
func base64Of(raw json.RawMessage) base64Text {
	return base64Text(strings.TrimSpace(jsonparts.Text(raw)))
}

// estimate is how many bytes the text holds at most, whatever it says at its
// end: padding counts two characters and no more.
func (t base64Text) estimate() int64 {
	n := int64(len(t)) / 4 * 3
	return n - int64(min(2, len(t)-len(strings.TrimRight(string(t), "="))))
}

func (t base64Text) reader() io.Reader {
	return base64.NewDecoder(base64.StdEncoding, strings.NewReader(string(t)))
}

// Why base64 cannot be taken.
var (
	errTooLong = errors.New("too long")
	errCutOff  = errors.New("it ends too early")
)

// look decodes everything into w and returns the size and the type that the
// bytes themselves show.
func (t base64Text) look(w io.Writer) (size int64, mime string, err error) {
	if i := strings.IndexByte(string(t), '='); i >= 0 && strings.Trim(string(t[i:]), "=\r\n") != "" {
		return 0, "", base64.CorruptInputError(i)
	}
	if breaks := strings.Count(string(t), "\n") + strings.Count(string(t), "\r"); (len(t)-breaks)%4 != 0 {
		return 0, "", errCutOff
	}
	head := make([]byte, 3072) // as much as the detection looks at
	r := io.LimitReader(t.reader(), maxMedia+1)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, "", err
	}
	if _, err := w.Write(head[:n]); err != nil {
		return 0, "", err
	}
	rest, err := io.Copy(w, r)
	if err != nil {
		return 0, "", err
	}
	if size = int64(n) + rest; size > maxMedia {
		return size, "", errTooLong
	}
	mime, _, _ = strings.Cut(mimetype.Detect(head[:n]).String(), ";")
	return size, mime, nil
}
