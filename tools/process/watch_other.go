//go:build !linux

package process

import "time"

// watchPause is the time between two looks, each of which reads the process
// table, or asks the job.
func watchPause(age time.Duration) time.Duration {
	if age < time.Minute {
		return 250 * time.Millisecond
	}
	return time.Second
}

func (p *Process) hold() (release func()) { return func() {} }
