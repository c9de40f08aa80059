package process

// CloseInherited does nothing: on Windows a child gets only the handles that are
// named when it is started.
func CloseInherited() error { return nil }
