//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// bridgeWay is a client of zeroclaw mcp as a process of its own.
type bridgeWay struct {
	home string

	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *buffer
	last int
}

func (w *bridgeWay) open(ctx context.Context) error {
	w.cmd, w.errs = exec.Command(os.Args[0], "mcp", "--agent", "w"), &buffer{}
	w.cmd.Env = append(os.Environ(), "HOME="+w.home, asProgram+"=1")
	w.cmd.Stderr = w.errs
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return err
	}
	if err := introduce(ctx, w, "initialize", soakIntroduction); err != nil {
		return err
	}
	_, err = io.WriteString(w.in, initialized+"\n")
	return err
}

func (w *bridgeWay) ask(ctx context.Context, method string, params map[string]any) (out rpcAnswer, err error) {
	w.last++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.last, "method": method, "params": params})
	if err != nil {
		return out, err
	}
	if _, err := w.in.Write(append(body, '\n')); err != nil {
		return out, fmt.Errorf("the bridge: %w: %s", err, w.errs)
	}
	id := w.last
	// Nobody vanishes here: the call is taken back, and gets no answer.
	taken := context.AfterFunc(ctx, func() {
		fmt.Fprintf(w.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n"+`{"jsonrpc":"2.0","id":"after-%d","method":"ping"}`+"\n", id, id)
	})
	defer taken()
	for {
		line, err := w.out.ReadBytes('\n')
		if err != nil {
			return out, fmt.Errorf("the bridge ends: %w: %s", err, w.errs)
		}
		out = rpcAnswer{}
		if err := json.Unmarshal(line, &out); err != nil {
			return out, fmt.Errorf("the bridge prints %.300s: %w", line, err)
		}
		switch {
		case out.Method != "":
		case string(out.ID) == strconv.Itoa(id):
			return out, nil
		case string(out.ID) == fmt.Sprintf(`"after-%d"`, id):
			return out, ctx.Err()
		}
	}
}

func (w *bridgeWay) close() error {
	w.in.Close()
	if _, err := io.Copy(io.Discard, w.out); err != nil {
		return err
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("the bridge ended with %w: %s", err, w.errs)
	}
	return nil
}
