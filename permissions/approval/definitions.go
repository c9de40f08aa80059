package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"zeroclaw/tools/atomicfile"
)

// State says how a tool's definition stands to the accepted one.
type State string

// The states of a definition.
const (
	DefinitionNew      State = "new" // never seen before
	DefinitionAccepted State = "accepted"
	DefinitionChanged  State = "changed" // differs from the accepted one
)

// Accepted is a definition as it was accepted.
type Accepted struct {
	Server string          `json:"server,omitempty"` // that offers it; "" in files of earlier versions
	Hash   string          `json:"hash"`
	Text   json.RawMessage `json:"text"` // name, description and schemas, for a diff
}

// Definitions keeps the accepted definition of every remote tool, by full
// name, in one file. What was seen counts at once; a file that changes all the
// time is written every saveEvery, and at Close.
type Definitions struct {
	path  string
	every time.Duration // between two tries to save what was seen

	saving sync.Mutex // held while the file is written; taken before mu

	mu       sync.Mutex
	accepted map[string]Accepted
	sizes    map[string]int // of what is kept of each server, in bytes
	size     int            // of all
	pinned   uint64         // counts what was seen for the first time
	saved    uint64         // of pinned, that the file holds
	failed   error          // of the last try to save what was seen
	tried    time.Time      // when that was
	waits    bool           // a goroutine saves when its time has come
	revision uint64         // counts changes
	closed   bool

	stop chan struct{} // closed by Close
	work sync.WaitGroup
}

// Bounds of what is pinned because it was seen, in bytes: of one server, so that
// one which invents tools for ever makes no other server's tools count as
// changed, and of all, so that no disk is filled.
const (
	maxOfServer = 16 << 20
	maxOfAll    = 128 << 20
	// maxDefinitions bounds the file: what a person accepts is pinned in any
	// case.
	maxDefinitions = 192 << 20
)

// saveEvery is how long a change may be kept in memory only.
const saveEvery = 5 * time.Second

// OpenDefinitions reads the accepted definitions, none when the file does not
// exist. After an error every definition counts as changed until accepted.
func OpenDefinitions(path string) (*Definitions, error) {
	d := &Definitions{path: path, every: saveEvery, accepted: map[string]Accepted{}, stop: make(chan struct{})}
	if _, err := atomicfile.ReadJSON(path, maxDefinitions, &d.accepted); err != nil {
		d.accepted = nil
		return d, fmt.Errorf("read accepted tool definitions, all of which must be accepted again: %w", err)
	}
	if d.accepted == nil { // the file says null
		d.accepted = map[string]Accepted{}
	}
	for tool, a := range d.accepted {
		d.countLocked(tool, a, 1)
	}
	return d, nil
}

// countLocked adds an entry to the sizes, or with -1 takes it away.
func (d *Definitions) countLocked(tool string, a Accepted, sign int) {
	const around = 64 // names of fields, quotes
	n := sign * (len(tool) + len(a.Server) + len(a.Hash) + written(a.Text) + around)
	if d.sizes == nil {
		d.sizes = map[string]int{}
	}
	d.sizes[a.Server] += n
	d.size += n
}

// written is how long a text is in the file, where some characters are escaped.
func written(text []byte) int {
	n := len(text)
	for _, c := range []string{"<", ">", "&", "\u2028", "\u2029"} {
		n += (len(`\u2028`) - len(c)) * bytes.Count(text, []byte(c))
	}
	return n
}

func (d *Definitions) putLocked(tool string, a Accepted) {
	if old, ok := d.accepted[tool]; ok {
		d.countLocked(tool, old, -1)
	}
	d.accepted[tool] = a
	d.countLocked(tool, a, 1)
	d.revision++
}

func (d *Definitions) fullLocked(server string) bool {
	return d.sizes[server] >= maxOfServer || d.size >= maxOfAll
}

// Revision is a number that rises whenever what Check answers may have changed.
func (d *Definitions) Revision() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.revision
}

// Check compares the definition of a server's tool with the accepted one, which
// it returns.
func (d *Definitions) Check(server, tool, hash string) (State, Accepted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.accepted[tool]
	switch {
	case d.accepted == nil:
		return DefinitionChanged, Accepted{}
	case !ok && d.fullLocked(server):
		// It could not be told from one that changed.
		return DefinitionChanged, Accepted{}
	case !ok:
		return DefinitionNew, Accepted{}
	case old.Hash == hash:
		return DefinitionAccepted, old
	}
	return DefinitionChanged, old
}

// Wants reports whether Pin would take something from a definition of the
// tool.
func (d *Definitions) Wants(server, tool string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, seen := d.accepted[tool]
	return d.accepted != nil && (!seen && !d.fullLocked(server) || seen && old.Server == "" && server != "")
}

// Pin takes the definitions that were never seen before, by full name, as they
// are. They count as accepted from here on, saved or not: otherwise a tool that
// changes later would pass for a new one.
func (d *Definitions) Pin(now map[string]Accepted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for tool, a := range now {
		old, seen := d.accepted[tool]
		switch {
		case d.accepted == nil:
			continue
		case seen && (old.Server != "" || a.Server == ""), !seen && d.fullLocked(a.Server):
			continue
		case seen:
			old.Server = a.Server
			a = old
		}
		d.putLocked(tool, a)
		d.pinned++
	}
}

// SaveSoon sees to it that what was pinned gets into the file, at once or
// within saveEvery. The error is that of the last try, as long as the file lacks
// something.
func (d *Definitions) SaveSoon() error {
	d.mu.Lock()
	wait := d.every - time.Since(d.tried)
	switch {
	case d.pinned == d.saved:
		d.mu.Unlock()
		return nil
	case wait <= 0 || d.closed:
		d.mu.Unlock()
		return d.save()
	}
	defer d.mu.Unlock()
	if !d.waits {
		d.waits = true
		d.work.Go(func() { d.saveLater(wait) })
	}
	return d.failed
}

// saveLater saves what was seen once its time has come. An error is told by the
// next SaveSoon, or by Close.
func (d *Definitions) saveLater(wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-d.stop:
	}
	d.mu.Lock()
	d.waits = false
	d.mu.Unlock()
	_ = d.save()
}

// save writes what was seen, if the file lacks something.
func (d *Definitions) save() error {
	d.saving.Lock()
	defer d.saving.Unlock()
	d.mu.Lock()
	d.tried = time.Now()
	next, pinned, lacks := maps.Clone(d.accepted), d.pinned, d.pinned != d.saved
	d.mu.Unlock()
	if !lacks {
		return nil
	}
	err := d.write(next)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = err
	if err == nil {
		d.saved = pinned
	}
	return err
}

func (d *Definitions) write(all map[string]Accepted) error {
	if err := atomicfile.WriteJSON(d.path, all); err != nil {
		return fmt.Errorf("save accepted tool definitions: %w", err)
	}
	return nil
}

// Accept pins a definition. It is saved at once; one that cannot be saved stays
// as it was.
func (d *Definitions) Accept(tool string, now Accepted) error {
	d.saving.Lock()
	defer d.saving.Unlock()
	d.mu.Lock()
	next, pinned := maps.Clone(d.accepted), d.pinned
	d.mu.Unlock()
	if next == nil {
		next = map[string]Accepted{}
	}
	next[tool] = now
	if err := d.write(next); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.accepted == nil {
		d.accepted = map[string]Accepted{}
	}
	d.putLocked(tool, now)
	d.saved, d.failed = pinned, nil
	return nil
}

// Close saves what was seen and is not saved yet. Nothing waits any more
// afterwards: what is seen then is saved at once.
func (d *Definitions) Close() error {
	d.mu.Lock()
	was := d.closed
	d.closed = true
	d.mu.Unlock()
	if !was && d.stop != nil {
		close(d.stop)
	}
	d.work.Wait()
	return d.save()
}
