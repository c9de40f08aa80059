package services

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequest(t *testing.T) {
	spec := server("x")
	spec.CallTimeout = 5 * time.Second
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		for method := range methods {
			raw, err := r.Request(t.Context(), "x", method, nil)
			if err != nil || string(raw) != `{"method":"`+method+`"}` {
				t.Errorf("%s = %s, %v", method, raw, err)
			}
		}
		for _, method := range []string{"tools/call", "initialize", "ping", "", "notifications/initialized", "sampling/createMessage"} {
			if _, err := r.Request(t.Context(), "x", method, nil); err == nil {
				t.Errorf("%q was sent", method)
			}
		}
		if _, err := r.Request(t.Context(), "nobody", "resources/list", nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("unknown: %v", err)
		}
		p := r.fake.last()
		p.reply(func(context.Context, json.RawMessage) error { return ErrUnsupported })
		if _, err := r.Request(t.Context(), "x", "prompts/list", nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("unsupported: %v", err)
		}
		p.reply(func(ctx context.Context, _ json.RawMessage) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		if _, err := r.Request(t.Context(), "x", "prompts/list", nil); !errors.Is(err, ErrTimeout) || time.Since(began) != 5*time.Second {
			t.Errorf("silence: %v after %s", err, time.Since(began))
		}
		failed := make(chan error, 1)
		go func() { _, err := r.Request(t.Context(), "x", "prompts/list", nil); failed <- err }()
		synctest.Wait()
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, ErrStopped) {
			t.Errorf("stopped meanwhile: %v", err)
		}
	})
}
