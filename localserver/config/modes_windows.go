//go:build windows

package config

import "os"

// On Windows access follows the ACL of the profile folder, and the modes that
// Go shows say nothing about it.

func looseFile(os.FileInfo) string { return "" }

func foreign(os.FileInfo) bool { return false }

func checkFolder(string, os.FileInfo) error { return nil }

func tighten(string, os.FileInfo) {}
