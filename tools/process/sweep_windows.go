package process

// ownSession is not used: jobs replace sessions.
func ownSession() int { return 0 }

func running(r run) bool {
	start, ok := startOf(r.Pid)
	return ok && start == r.Start
}

// sweep ends the direct children that the system, which closes the jobs of a
// companion that dies, may not have ended yet.
func sweep(r run) (killed int) {
	for _, c := range r.Children {
		if killExactly(kin{c.Pid, c.Start}) == nil {
			killed++
		}
	}
	return killed
}
