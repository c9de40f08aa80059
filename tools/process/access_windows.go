package process

import "io/fs"

// mayExecute: extensions decide on Windows.
func mayExecute(string, fs.FileInfo) bool { return true }
