package files

import (
	"os"

	"zeroclaw/permissions"
)

// mayEnter judges a folder before it is listed. Only facts keep a search out:
// rules may cover single files below a folder that they do not cover.
func (s *search) mayEnter(dir string) bool {
	real := s.real + "/" + dir[:len(dir)-1]
	p, _ := s.pass.Judge(permissions.EncodePath(real), permissions.OpList)
	switch {
	case p.OwnState:
		s.count(&s.skip.OwnState, 1)
	case p.Err != "" || p.Real != real:
		s.count(&s.skip.Outside, 1)
	case p.Protected != "":
		s.count(&s.skip.Protected, 1)
	default:
		return true
	}
	return false
}

// link counts a link that leads out. Links are not followed: what they lead to
// inside is met under its own name.
func (s *search) link(rel string) {
	if s.judged.Add(1) > maxJudged {
		return
	}
	p, _ := s.pass.Judge(permissions.EncodePath(s.real+"/"+rel), permissions.OpRead)
	switch {
	case p.OwnState:
		s.count(&s.skip.OwnState, 1)
	case p.Err == "" && p.Real != s.real && !below(s.real, p.Real):
		s.count(&s.skip.Outside, 1)
	}
}

func below(dir, p string) bool {
	return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/'
}

// result judges a file and adds what was found in it, unless it may not be
// seen. info is what was searched, nil for a name. It returns false when the
// search has enough.
func (s *search) result(dir, name string, info os.FileInfo, found []match) bool {
	real := s.real + "/" + dir + name
	p, v := s.pass.Judge(permissions.EncodePath(real), permissions.OpRead)
	if n := s.unseen(p, v, real); n != nil {
		s.count(n, 1)
		return true
	}
	if info != nil && !sameAs(p, info) {
		s.count(&s.skip.Outside, 1)
		return true
	}
	shownPath := permissions.EncodePath(s.given + dir + name)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range found {
		if s.stopped {
			return false
		}
		m.Path = shownPath
		s.matches = append(s.matches, m)
		s.size += len(shownPath) + len(m.Text)
		for _, c := range [][]string{m.Before, m.After} {
			for _, l := range c {
				s.size += len(l)
			}
		}
		// One more than wanted shows that there are more.
		if len(s.matches) > s.limit || s.size > maxAnswer {
			s.stopped = true
			s.wake.Broadcast()
			return false
		}
	}
	return true
}

// unseen returns the counter for a file that must not show up, nil when it may.
func (s *search) unseen(p permissions.Path, v permissions.Verdict, real string) *int64 {
	switch {
	case p.OwnState:
		return &s.skip.OwnState
	case p.Protected != "":
		return &s.skip.Protected
	case p.Err != "" || p.Real != real:
		return &s.skip.Outside
	case v.Decision == permissions.Allow:
		return nil
	case v.Decision == permissions.Ask && (!s.covered || s.pass.MayRead(p)):
		// The question for this call has been answered: for the folder where no
		// rule covers it, else for what the rules cover.
		return nil
	}
	return &s.skip.Outside
}
