package shell

import (
	"fmt"

	"golang.org/x/sys/windows"
)

func distribution() string {
	v := windows.RtlGetVersion()
	name := fmt.Sprint(v.MajorVersion)
	const firstElevenBuild = 22000 // Windows 11 still calls itself 10.0
	if v.MajorVersion == 10 && v.BuildNumber >= firstElevenBuild {
		name = "11"
	}
	return fmt.Sprintf("Windows %s (build %d)", name, v.BuildNumber)
}
