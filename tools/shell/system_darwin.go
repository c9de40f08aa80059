package shell

import "os"

// distribution reads what sw_vers prints.
func distribution() string {
	b, err := os.ReadFile("/System/Library/CoreServices/SystemVersion.plist")
	if err != nil {
		return ""
	}
	return plistValue(b, "ProductName") + " " + plistValue(b, "ProductVersion")
}
