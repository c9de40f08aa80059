package localserver

import (
	"encoding/json"
	"os"
	"path/filepath"

	"zeroclaw/tools/atomicfile"
)

// lastRootFile keeps the folder that was chosen in the page.
const lastRootFile = "last-root.json"

// maxChoice bounds a file that keeps a choice, in bytes.
const maxChoice = 64 << 10

// LastRoot is the folder that was last chosen in the page, "" if none was or it
// is gone.
func LastRoot(state string) string {
	var last struct {
		Root string `json:"root"`
	}
	data, err := atomicfile.Read(statePath(state, lastRootFile), maxChoice)
	if err != nil || json.Unmarshal(data, &last) != nil || !filepath.IsAbs(last.Root) {
		return ""
	}
	if info, err := os.Stat(last.Root); err != nil || !info.IsDir() {
		return ""
	}
	return last.Root
}

func (s *Server) saveRoot(root string) {
	s.saveChoice(lastRootFile, map[string]string{"root": root})
}

// saveChoice keeps something chosen in the page. Failing to is shown and costs
// nothing else.
func (s *Server) saveChoice(name string, v any) {
	data, err := json.Marshal(v)
	if err == nil {
		err = atomicfile.Write(statePath(s.config.State, name), append(data, '\n'), atomicfile.Options{Mode: 0o600})
	}
	if err != nil {
		s.problem("state", "a choice could not be saved: "+err.Error())
	}
}

// firstRun reports whether nothing was set up yet: no folder chosen and no
// configuration written.
func (s *Server) firstRun() bool {
	return LastRoot(s.config.State) == "" && !s.file.Current().Exists
}
