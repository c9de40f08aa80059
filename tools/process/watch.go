package process

import "time"

// watch ends the family when it has more members than max. Nothing the system
// offers bounds them without also bounding the user's other programs: a limit
// on processes counts all of the user's.
func (p *Process) watch(max int) {
	base, cheap := systemTasks()
	began := time.Now()
	for pause := 200 * time.Millisecond; ; {
		t := time.NewTimer(pause)
		select {
		case <-p.gone:
			t.Stop()
			return
		case <-t.C:
		}
		if time.Since(began) > 30*time.Second {
			pause = time.Second // storms begin early
		}
		if now, _ := systemTasks(); cheap && now < base+max/2 {
			continue
		}
		if len(p.Alive()) <= max {
			continue
		}
		p.mu.Lock()
		p.tooMany = true
		p.mu.Unlock()
		p.Kill()
		return
	}
}

// TooMany reports whether the family was killed for having more members than
// Options.MaxProcesses.
func (p *Process) TooMany() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tooMany
}
