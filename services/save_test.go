package services

import (
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
