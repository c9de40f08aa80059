// Package web owns the page: the static files that the companion serves and embeds.
//
// What lies in static is what is reviewed, embedded and published; there is no build step.
package web

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
)

//go:embed static
var embedded embed.FS

// FS returns the embedded page; index.html is at its top.
func FS() fs.FS {
	sub, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // the folder is fixed at build time
	}
	return sub
}

// Dir returns the page in dir instead, read anew on every request, for work on the page itself.
// It fails when dir holds no index.html.
func Dir(dir string) (fs.FS, error) {
	files := os.DirFS(dir)
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, fmt.Errorf("reading the page from %s: %w", dir, err)
	}
	return files, nil
}
