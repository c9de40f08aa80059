package config

import "os"

func saveWithoutSpace(string) { os.Exit(1) }
