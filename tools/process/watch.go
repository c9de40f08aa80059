package process

import "time"

// watch ends the family when it has more members than max.
//
// Nothing that the system offers bounds a family without also counting the
// user's other programs, so a look at the size decides. A family that doubles
// itself grows by thousands while the process table is read; so when the
// system's total, which one short read tells, has grown by half of max, the
// group is stopped first, then counted, and goes on if it is innocent.
func (p *Process) watch(max int) {
	base, cheap := systemTasks()
	for {
		pause := watchPause(time.Since(p.began))
		t := time.NewTimer(pause)
		select {
		case <-p.gone:
			t.Stop()
			return
		case <-t.C:
		}
		now, _ := systemTasks()
		if cheap && now < base+max/2 {
			base = min(base, now)
			continue
		}
		release := p.hold()
		if len(p.Alive()) <= max {
			release()
			base = now
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
