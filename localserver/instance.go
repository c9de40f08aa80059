package localserver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"zeroclaw/tools/atomicfile"
)

// Instance is what run/server.json says about the running companion, for
// commands of the same user.
type Instance struct {
	PID     int       `json:"pid"`
	Port    int       `json:"port"`
	Started time.Time `json:"started"`
	Version string    `json:"version"`
	TokenID string    `json:"token_id"`
	Token   string    `json:"token"`
}

// ErrNotRunning means that no companion of this state folder answers.
var ErrNotRunning = errors.New("no companion is running")

func instancePath(state string) string { return filepath.Join(state, "run", "server.json") }

// Acquire makes the caller the one companion of a state folder until release.
// It returns atomicfile.ErrLocked while another one is.
func Acquire(state string) (release func(), err error) {
	run := filepath.Join(state, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("create the state folder: %w", err)
	}
	return atomicfile.TryLock(filepath.Join(run, "lock"))
}

func (i Instance) save(state string) error {
	return atomicfile.WriteJSON(instancePath(state), i)
}

// How long a companion may take. It proves itself at once; what it is asked
// for may have to look things up.
const (
	proveTime  = 2 * time.Second
	answerTime = 10 * time.Second
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 20

// Find reads run/server.json and makes the companion prove that it knows its
// token before anybody sends it: the port may belong to another program by
// now, also to one that never answers.
func Find(ctx context.Context, state string) (Instance, error) {
	var i Instance
	found, err := atomicfile.ReadJSON(instancePath(state), maxChoice, &i)
	if !found {
		return i, ErrNotRunning
	}
	if err != nil || i.Port == 0 || i.Token == "" {
		return i, fmt.Errorf("%w: %s cannot be read", ErrNotRunning, instancePath(state))
	}
	return i, i.Prove(ctx)
}

// Prove makes whatever listens on the port show that it knows the token, within
// two seconds. The token itself is not sent. Its error is ErrNotRunning, wrapped.
func (i Instance) Prove(ctx context.Context) error {
	nonce := rand.Text()
	var got struct {
		Proof string `json:"proof"`
	}
	ctx, cancel := context.WithTimeout(ctx, proveTime)
	defer cancel()
	if err := i.send(ctx, http.MethodPost, "/api/prove", map[string]string{"token_id": i.TokenID, "nonce": nonce}, &got, false); err != nil {
		return fmt.Errorf("%w: port %d does not answer as one", ErrNotRunning, i.Port)
	}
	mac := hmac.New(sha256.New, []byte(i.Token))
	mac.Write([]byte(nonce))
	if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(got.Proof)) {
		return fmt.Errorf("%w: port %d belongs to another program", ErrNotRunning, i.Port)
	}
	return nil
}

// APIError is an error that the running companion answered with.
type APIError struct {
	Status  int
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

func (e *APIError) Error() string { return e.Message }

// Do sends one request of the API and decodes the answer into out, if any. A
// ctx without a deadline gets one of ten seconds.
func (i Instance) Do(ctx context.Context, method, path string, in, out any) error {
	if _, set := ctx.Deadline(); !set {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	return i.send(ctx, method, path, in, out, true)
}

func (i Instance) send(ctx context.Context, method, path string, in, out any, authorized bool) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", i.Port, path), body)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if authorized {
		r.Header.Set("Authorization", "Bearer "+i.Token)
	}
	// A proxy of the environment must not see loopback traffic.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the companion on port %d: %w", i.Port, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		var e struct {
			Error APIError `json:"error"`
		}
		if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&e); err != nil {
			return fmt.Errorf("the companion on port %d answered %s", i.Port, answer.Status)
		}
		e.Error.Status = answer.StatusCode
		return &e.Error
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("read the answer of the companion on port %d: %w", i.Port, err)
	}
	return nil
}
