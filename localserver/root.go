package localserver

import (
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
	if _, err := atomicfile.ReadJSON(statePath(state, lastRootFile), maxChoice, &last); err != nil || !filepath.IsAbs(last.Root) {
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
	if err := atomicfile.WriteJSON(statePath(s.config.State, name), v); err != nil {
		s.problem("state", "a choice could not be saved: "+err.Error())
	}
}

// firstRun reports whether nothing was set up yet: no folder chosen and no
// configuration written.
func (s *Server) firstRun() bool {
	return LastRoot(s.config.State) == "" && !s.file.Current().Exists
}
