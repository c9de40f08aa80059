package process

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job is a job object that ends its members when its last handle is closed,
// which the system does when the companion dies.
type job struct {
	mu sync.Mutex
	h  windows.Handle // 0 when closed
}

func newJob() (*job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		windows.CloseHandle(h)
		return nil, fmt.Errorf("set up a job object: %w", err)
	}
	return &job{h: h}, nil
}

// adopt puts a suspended process into the job and lets it run, so that it has
// no moment outside.
func (j *job) adopt(pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("open the new process: %w", err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(j.h, h); err != nil {
		return fmt.Errorf("put the new process into its job object: %w", err)
	}
	return resume(uint32(pid))
}

// resume lets the threads of a process run that was created suspended.
func resume(pid uint32) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list the threads of the new process: %w", err)
	}
	defer windows.CloseHandle(snap)
	var e windows.ThreadEntry32
	e.Size = uint32(unsafe.Sizeof(e))
	resumed := false
	for err = windows.Thread32First(snap, &e); err == nil; err = windows.Thread32Next(snap, &e) {
		if e.OwnerProcessID != pid {
			continue
		}
		t, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, e.ThreadID)
		if err != nil {
			return fmt.Errorf("open a thread of the new process: %w", err)
		}
		_, err = windows.ResumeThread(t)
		windows.CloseHandle(t)
		if err != nil {
			return fmt.Errorf("resume the new process: %w", err)
		}
		resumed = true
	}
	if !resumed {
		return errors.New("resume the new process: it has no thread")
	}
	return nil
}

// members lists the processes in the job.
func (j *job) members() []int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.h == 0 {
		return nil
	}
	const basicProcessIDList = 3 // JobObjectBasicProcessIdList of JOBOBJECTINFOCLASS
	for n := 64; ; n *= 4 {
		// JOBOBJECT_BASIC_PROCESS_ID_LIST: two DWORDs, then pointer-sized numbers.
		buf := make([]uintptr, n+2)
		err := windows.QueryInformationJobObject(j.h, basicProcessIDList,
			uintptr(unsafe.Pointer(&buf[0])), uint32(uintptr(len(buf))*unsafe.Sizeof(buf[0])), nil)
		if errors.Is(err, windows.ERROR_MORE_DATA) && n < 1<<16 {
			continue
		}
		if err != nil {
			return nil
		}
		head := (*[2]uint32)(unsafe.Pointer(&buf[0]))
		first := 8 / int(unsafe.Sizeof(buf[0]))
		var out []int
		for i := range int(head[1]) {
			out = append(out, int(buf[first+i]))
		}
		return out
	}
}

func (j *job) terminate() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.h == 0 {
		return nil
	}
	return windows.TerminateJobObject(j.h, 1)
}

func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.h != 0 {
		windows.CloseHandle(j.h)
		j.h = 0
	}
}
