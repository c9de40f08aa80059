//go:build !linux

package atomicfile

import "os"

func keepAttributes(*os.File, *os.Root, string) {}
