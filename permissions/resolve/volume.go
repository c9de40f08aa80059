package resolve

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// volumes remembers how folders compare names, which does not change while a
// folder has entries.
type volumes struct {
	mu    sync.Mutex
	known map[identity][2]spelling // by folder; [1] for names beyond ASCII
}

type spelling struct{ asked, fold, nfc bool }

const maxKnownVolumes = 4096

func (v *volumes) of(dir string, id identity, below string) (fold, nfc bool) {
	i := 0
	if !isASCII(below) {
		i = 1
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	both := v.known[id]
	if !both[i].asked {
		fold, nfc := volume(dir, below)
		both[i] = spelling{true, fold, nfc}
		if v.known == nil || len(v.known) >= maxKnownVolumes {
			v.known = map[identity][2]spelling{}
		}
		v.known[id] = both
	}
	return both[i].fold, both[i].nfc
}

// volume says how the volume of a folder compares names: whether it folds case
// and whether it normalises. It asks the volume itself, by looking up an
// existing folder under another spelling of its name; where no name can tell,
// the answer is what the operating system does by default.
func volume(dir, below string) (fold, nfc bool) {
	folds, folded := probe(dir, swapCase)
	if !folded {
		folds = runtime.GOOS == "windows" || runtime.GOOS == "darwin"
	}
	if isASCII(below) {
		// No two spellings exist, so it does not matter.
		return folds, runtime.GOOS == "darwin"
	}
	norms, known := probe(dir, swapForm)
	if !known {
		norms = runtime.GOOS == "darwin"
	}
	return folds, norms
}

// probe looks for a folder on the way up from dir, on the same volume, whose
// name has another spelling, and reports whether that leads to the same folder.
func probe(dir string, respell func(string) string) (same, known bool) {
	info, err := os.Lstat(filepath.FromSlash(dir))
	if err != nil {
		return false, false
	}
	id, err := identify(dir, info)
	if err != nil {
		return false, false
	}
	// Folders below tell of this very volume; a few are enough.
	if f, err := os.Open(filepath.FromSlash(dir)); err == nil {
		names, _ := f.Readdirnames(16)
		f.Close()
		for _, n := range names {
			if same, known := twin(dir, n, respell); known {
				return same, true
			}
		}
	}
	for at := dir; parent(at) != at; at = parent(at) {
		up := parent(at)
		upInfo, err := os.Lstat(filepath.FromSlash(up))
		if err != nil {
			return false, false
		}
		upID, err := identify(up, upInfo)
		if err != nil || upID.dev != id.dev {
			return false, false // dir is the top of its volume
		}
		if same, known := twin(up, strings.TrimPrefix(at[len(up):], "/"), respell); known {
			return same, true
		}
	}
	return false, false
}

// twin looks a folder up under another spelling of its name. Files do not
// count: two names of one file may be hard links.
func twin(dir, name string, respell func(string) string) (same, known bool) {
	other := respell(name)
	if other == name {
		return false, false
	}
	a, err := os.Lstat(filepath.FromSlash(join(dir, name)))
	if err != nil || !a.IsDir() {
		return false, false
	}
	b, err := os.Lstat(filepath.FromSlash(join(dir, other)))
	return err == nil && b.IsDir() && os.SameFile(a, b), true
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsUpper(r):
			return unicode.ToLower(r)
		case unicode.IsLower(r):
			return unicode.ToUpper(r)
		}
		return r
	}, s)
}

func swapForm(s string) string {
	if c := norm.NFC.String(s); c != s {
		return c
	}
	return norm.NFD.String(s)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
