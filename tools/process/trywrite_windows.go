package process

import "os"

// tryWrite writes nothing: there is no such thing for the pipes of Windows.
func tryWrite(*os.File, []byte) (int, error) { return 0, nil }
