package mcpclient

import "testing"

func makePipe(*testing.T, string) {}
