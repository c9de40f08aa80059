package resolve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// identity names a file or folder of this machine whatever its path is: the
// serial number of the volume and the file index.
type identity struct{ dev, ino, links uint64 }

func identify(p string, _ fs.FileInfo) (identity, error) {
	name, err := windows.UTF16PtrFromString(filepath.FromSlash(p))
	if err != nil {
		return identity{}, fmt.Errorf("identify %q: %w", p, err)
	}
	// No access is asked for, and a link is opened itself.
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return identity{}, fmt.Errorf("identify %q: %w", p, err)
	}
	defer windows.CloseHandle(h)
	return identifyHandle(h)
}

func identifyOpen(f *os.File, _ fs.FileInfo) (identity, error) {
	return identifyHandle(windows.Handle(f.Fd()))
}

func identifyHandle(h windows.Handle) (identity, error) {
	var d windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &d); err != nil {
		return identity{}, fmt.Errorf("identify an open file: %w", err)
	}
	return identity{uint64(d.VolumeSerialNumber), uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow), uint64(d.NumberOfLinks)}, nil
}

// mayHaveLinks is always so: FileInfo does not say.
func mayHaveLinks(fs.FileInfo) bool { return true }
