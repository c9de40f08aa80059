package shell

import "golang.org/x/sys/windows"

// freeSpace is how many bytes this user may still write to the disk of dir.
func freeSpace(dir string) (uint64, bool) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var n uint64
	if windows.GetDiskFreeSpaceEx(p, &n, nil, nil) != nil {
		return 0, false
	}
	return n, true
}
