package mcpclient

import (
	"net/netip"
	"testing"
)

// R004 and R006: where the names and addresses of a URL may lead.
func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host    string
		https   bool
		address string
		want    bool
	}{
		// Typed by the user.
		{"127.0.0.1", false, "127.0.0.1", true},
		{"127.0.0.1", false, "::ffff:127.0.0.1", true},
		{"::1", false, "::1", true},
		{"192.168.1.5", false, "192.168.1.5", true},
		{"192.168.1.5", false, "192.168.1.6", false},
		{"169.254.169.254", false, "169.254.169.254", true},
		{"fe80::1%eth0", false, "fe80::1%eth0", true},
		{"localhost", false, "127.0.0.1", true},
		{"LOCALHOST.", false, "::1", true},
		{"mcp.localhost", false, "127.0.0.1", true},
		{"nas", false, "192.168.1.9", true},
		{"printer.local", false, "10.0.0.9", true},
		{"a.lan", false, "10.0.0.9", true},
		{"a.internal", false, "172.16.3.4", true},
		{"a.home.arpa", false, "fd12::1", true},
		// Public.
		{"example.com", false, "93.184.216.34", true},
		{"example.com", true, "2606:2800:220:1::1", true},
		{"nas", false, "93.184.216.34", true},
		// A public name that leads inside.
		{"example.com", false, "127.0.0.1", false},
		{"example.com", false, "10.1.2.3", false},
		{"example.com", false, "::1", false},
		{"example.com", false, "fd12::1", false},
		{"example.com", false, "100.64.0.1", false},
		{"example.com", false, "::ffff:10.1.2.3", false},
		{"example.com", false, "64:ff9b::10.1.2.3", false},
		{"example.com", false, "2002:a01:203::1", false},
		{"local.example.com", false, "10.1.2.3", false},
		{"example.com", true, "10.1.2.3", true},
		{"example.com", true, "127.0.0.1", true},
		// Never by a name.
		{"example.com", true, "169.254.169.254", false},
		{"metadata.google.internal", false, "169.254.169.254", false},
		{"localhost", true, "169.254.169.254", false},
		{"nas", true, "fe80::1", false},
		{"nas", true, "fd00:ec2::254", false},
		{"nas", true, "::ffff:169.254.169.254", false},
		{"nas", true, "64:ff9b::a9fe:a9fe", false},
		{"nas", true, "224.0.0.251", false},
		{"nas", true, "ff02::fb", false},
		{"nas", true, "255.255.255.255", false},
		// Nobody's.
		{"0.0.0.0", false, "0.0.0.0", false},
		{"::", true, "::", false},
		{"localhost", true, "0.0.0.0", false},
		{"nas", true, "0.1.2.3", false},
		{"nas", true, "::ffff:0.0.0.0", false},
		// Another notation is no name of the own network.
		{"2130706433", false, "127.0.0.1", false},
		{"0x7f000001", false, "127.0.0.1", false},
		{"", false, "127.0.0.1", false},
	} {
		err := checkAddress(tt.host, tt.https, netip.MustParseAddr(tt.address))
		if (err == nil) != tt.want {
			t.Errorf("checkAddress(%q, https %v, %s) = %v, want allowed %v", tt.host, tt.https, tt.address, err, tt.want)
		}
	}
}
