package localserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHalfAnUploadIsNoAttachment: what is still coming is not listed, and takes
// its name only when it is whole.
func TestHalfAnUploadIsNoAttachment(t *testing.T) {
	r := newRig(t)
	c, _ := r.chat()
	files := "/api/conversations/" + c + "/files"
	conn, err := net.Dial("tcp4", strings.TrimSuffix(strings.TrimPrefix(r.server.Address(), "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s?name=a.txt HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nhalf", files, conn.RemoteAddr(), r.token)
	time.Sleep(200 * time.Millisecond)
	type list struct{ Files []attachment }
	if got := do[list](r, "GET", files, nil); len(got.Files) != 0 {
		t.Errorf("half an upload is listed: %+v", got.Files)
	}
	if status, body := r.request("POST", files+"?name=a.txt", "other", "Content-Type: text/plain"); status != http.StatusCreated || !strings.Contains(body, `"name":"a.txt"`) {
		t.Errorf("an upload meanwhile answers %d %s", status, body)
	}
	io.WriteString(conn, "full")
	conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), `"name":"a-2.txt"`) {
		t.Errorf("the upload answers %q, %v", text, err)
	}
	if got := do[list](r, "GET", files, nil); len(got.Files) != 2 || got.Files[0].Size+got.Files[1].Size != 13 {
		t.Errorf("the conversation has %+v", got.Files)
	}
	if status, body := r.request("GET", files+"/a.txt", nil); status != http.StatusOK || body != "other" {
		t.Errorf("the first upload is %d %q", status, body)
	}
}
