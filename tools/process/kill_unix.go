//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// relatives is the family of p as it stands now.
func (p *Process) relatives() []entry {
	table, err := snapshot()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if p.left {
			return nil
		}
		return []entry{{kin: kin{p.pid, p.start}, sid: p.pid, pgrp: p.pid}}
	}
	fam := family(table, subject{
		leader: p.pid, start: p.start, trusted: !p.system.reaped, mark: p.mark,
		seen: p.seen, self: os.Getpid(), selfSID: ownSession(),
	})
	clear(p.seen)
	for _, e := range fam {
		if e.sid != p.pid {
			p.seen[e.kin] = true
		}
	}
	return fam
}

// Alive lists the numbers of the direct child and its descendants that have
// not ended.
func (p *Process) Alive() []int {
	var out []int
	for _, e := range p.relatives() {
		if !e.zombie {
			out = append(out, e.pid)
		}
	}
	return out
}

// Signal sends a signal to the child's group. It returns os.ErrProcessDone
// when nothing of the group is left.
func (p *Process) Signal(sig os.Signal) error {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return errors.New("signal: not a signal of this system")
	}
	err := p.signalGroup(n)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func (p *Process) signalGroup(n syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.system.reaped {
		// The number may be somebody else's: only exact processes may be signalled from here on.
		return syscall.ESRCH
	}
	return syscall.Kill(-p.pid, n)
}

// term asks everybody to end: the group, and those who left it.
func (p *Process) term() {
	_ = p.signalGroup(syscall.SIGTERM)
	for _, e := range p.relatives() {
		if e.pgrp != p.pid && !e.zombie {
			_ = signalExactly(e.kin, syscall.SIGTERM)
		}
	}
}

// Kill ends the whole family at once and returns when it is verified gone, or
// when the system has not let go of a process for 3 s.
func (p *Process) Kill() {
	if nobody(p.relatives) {
		p.poke()
		return
	}
	p.mu.Lock()
	p.killing = true
	p.mu.Unlock()
	killFamily(p.relatives, func(sig syscall.Signal) { _ = p.signalGroup(sig) })
	p.poke()
}

// killFamily stops everybody before it kills anybody, so that nobody can have
// children while the others die, and repeats until nobody is left. It reports
// how many it killed. It gives up when nobody new was found or killed for
// killLimit, and where all that is left belongs to another user.
//
// A signal to a group reaches its members all at once, so that a group alone
// cannot outrun it; group sends one.
func killFamily(list func() []entry, group func(syscall.Signal)) (killed int) {
	dead := make(map[kin]bool)
	progress := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		group(syscall.SIGSTOP)
		living := freeze(list)
		group(syscall.SIGKILL)
		foreign := 0
		for _, e := range living {
			err := signalExactly(e.kin, syscall.SIGKILL)
			if err == nil && !dead[e.kin] {
				dead[e.kin] = true
				killed++
				progress = time.Now()
			}
			if errors.Is(err, syscall.EPERM) {
				foreign++
			}
		}
		// What a killed parent leaves behind is adopted by us, so it is only
		// the zombies that were ours to reap which can be reaped here.
		reap(list())
		if nobody(list) || time.Since(progress) > killLimit || foreign > 0 && foreign == len(living) {
			return killed
		}
		time.Sleep(pause)
	}
}

// freeze sends STOP until a look at the table shows nobody new.
func freeze(list func() []entry) []entry {
	stopped := make(map[kin]bool)
	progress := time.Now()
	for {
		living := alive(list())
		news := false
		for _, e := range living {
			if !stopped[e.kin] {
				stopped[e.kin] = true
				news = true
				progress = time.Now()
				_ = signalExactly(e.kin, syscall.SIGSTOP)
			}
		}
		if !news || time.Since(progress) > killLimit {
			return living
		}
	}
}

// nobody looks twice: one look may miss a parent that ends and a child that is
// born while the table is read.
func nobody(list func() []entry) bool {
	for range 2 {
		if len(alive(list())) > 0 {
			return false
		}
	}
	return true
}

func alive(fam []entry) []entry {
	var out []entry
	for _, e := range fam {
		if !e.zombie {
			out = append(out, e)
		}
	}
	return out
}
