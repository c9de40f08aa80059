package services

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// slowStore is a disk that takes its time.
type slowStore struct {
	saving  chan map[string]Saved
	release chan struct{}
}

func (s slowStore) Load() (map[string]Saved, error) { return nil, nil }
func (s slowStore) Save(all map[string]Saved) error {
	s.saving <- all
	<-s.release
	return nil
}

// While one server's settings are written, every other answers as before, and
// what comes next is added to what is being written.
func TestSavingHoldsNobodyUp(t *testing.T) {
	store := slowStore{make(chan map[string]Saved), make(chan struct{})}
	v, err := New(Config{Connector: &fakeConnector{}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	v.Set([]Spec{server("a"), server("b")})
	on := true
	done := make(chan error, 2)
	for _, name := range []string{"a", "b"} {
		go func() { done <- v.SetOptions(name, nil, &on) }()
	}
	first := <-store.saving
	asked := make(chan int)
	go func() { asked <- len(v.List()) }()
	select {
	case n := <-asked:
		if n != 2 || len(first) != 1 {
			t.Errorf("%d servers while %d are saved, want 2 and 1", n, len(first))
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the list of servers waits for the disk")
	}
	store.release <- struct{}{}
	if second := <-store.saving; len(second) != 2 {
		t.Errorf("the second save keeps %d servers, want both", len(second))
	}
	store.release <- struct{}{}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// fullStore is a disk without space.
type fullStore struct{}

func (fullStore) Load() (map[string]Saved, error) { return nil, nil }
func (fullStore) Save(map[string]Saved) error     { return errors.New("no space left: planted-secret") }

// A start that cannot be remembered is one all the same, and says so.
func TestStartThatCannotBeRemembered(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "planted-secret", "[secret]") }
	bubble(t, Config{Store: fullStore{}, Redact: redact}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		st := r.state(t, "x", Running)
		want := "not kept for the next time: saving the settings of x: no space left: [secret]"
		if len(st.Notices) != 1 || !strings.Contains(st.Notices[0], want) {
			t.Errorf("notices = %q, want one with %q", st.Notices, want)
		}
		lines, _ := r.Logs("x", 0)
		if !slices.ContainsFunc(lines, func(l LogLine) bool { return strings.Contains(l.Text, want) }) {
			t.Errorf("the log does not say so: %v", lines)
		}
	})
}
