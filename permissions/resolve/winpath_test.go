package resolve

import "testing"

func TestRefusedOnWindows(t *testing.T) {
	refused := []string{
		`C:\Users\me\p\a.txt:hidden`, `C:\p\a.txt::$DATA`, `a.txt:`, `C:\p:x\y`,
		`\\?\C:\x`, `//?/C:/x`, `\\.\PhysicalDrive0`, `\\.\pipe\x`, `\??\C:\x`, `\\server\share\x`, `//server/share`, `\/server\x`, `/\server`,
		`\x`, `/x`, `C:x`, `C:`, `1:\x`, `::\x`,
		`nul`, `C:\p\nul.txt`, `NUL .txt`, `p\con`, `con.foo.bar`, `aux/x`, `PRN`, `com1`, `COM9.log`, `lpt0`, "COM\u00b9", `CONIN$`, `conout$.x`, `clock$`,
		`a.txt.`, `a.txt `, `p.\x`, `p \x`, `...`, `C:\p\..\x...`,
		`PROGRA~1`, `C:\PROGRA~1\x`, `secret~1.txt`, `GIT~1`, `a~12`, `ABC~1.T`,
		`a<b`, `a>b`, `a"b`, `a|b`, `a?b`, `a*b`, "a\x01b", "a\nb",
	}
	for _, p := range refused {
		if refusedOnWindows(p) == "" {
			t.Errorf("refusedOnWindows(%q) = \"\", want a reason", p)
		}
	}
	for _, p := range []string{
		`C:\Users\me\p\a.txt`, `c:/x`, `C:\`, `.`, `..\x`, `p\..\x`, `~\x`, `~`, `p/a b.txt`, `null.txt`, `console`, `com10`, `common`, `lpt`, `.git`,
		`a~b`, `longername~1.txt`, `a~`, `~1x`, `x.nul`, `caf\u00e9`, `p\`,
	} {
		if why := refusedOnWindows(p); why != "" {
			t.Errorf("refusedOnWindows(%q) = %q, want none", p, why)
		}
	}
}

// TestWindowsClean runs the Windows reading of paths on any system.
func TestWindowsClean(t *testing.T) {
	r := &Resolver{windows: true, home: "C:/Users/me"}
	for given, want := range map[string]string{
		`c:\Users\..\x`: "C:/x", `p\..\q`: "D:/root/q", `~\docs`: "C:/Users/me/docs", `..\..\..\x`: "D:/x", `C:/`: "C:/", `C:\..\..`: "C:/",
	} {
		if got, why := r.clean(given, "D:/root", false); got != want || why != "" {
			t.Errorf("clean(%q) on Windows = %q, %q; want %q", given, got, why, want)
		}
	}
	if got := parent("C:/"); got != "C:/" {
		t.Errorf("parent of C:/ = %q", got)
	}
	if got := parent("C:/x"); got != "C:/" {
		t.Errorf("parent of C:/x = %q", got)
	}
}
