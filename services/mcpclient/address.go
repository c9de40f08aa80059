package mcpclient

import (
	"fmt"
	"net/netip"
	"strings"
)

// never are the ranges that are reached only where the user typed the very
// address: no name leads there, whoever answers for it.
var never = prefixes("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "224.0.0.0/4", "ff00::/8", "255.255.255.255/32")

// inside are the ranges of this machine and of networks that are not public.
var inside = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10",
	"100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "2001:db8::/32")

// unspecified stand for this machine on some systems and are nobody's address.
var unspecified = prefixes("0.0.0.0/8", "::/128")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// checkAddress decides whether a connection to addr may be made for a server
// whose URL names host (as the user typed it, without a port) and whose scheme
// is https or not. An address that was typed may be reached, a name of the
// user's own network may lead into it, and so may any name over https, where
// the certificate proves who answers. Everything else is an attempt to use the
// companion's place in the network.
func checkAddress(host string, https bool, addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	within := embedded(addr)
	switch typed, err := netip.ParseAddr(host); {
	case in(unspecified, addr), in(unspecified, within):
		return fmt.Errorf("the address %s is no server's", addr)
	case err == nil && typed.Unmap().WithZone("") == addr:
		return nil
	case in(never, addr), in(never, within):
		return fmt.Errorf("%s has the address %s, which is link-local, a cloud's metadata or multicast: no name may lead there", host, addr)
	case !in(inside, addr) && !in(inside, within):
		return nil
	case https, localName(host):
		return nil
	}
	return fmt.Errorf("%s has the private address %s: write the address itself into the URL, or use https", host, addr)
}

// embedded is the IPv4 address that an IPv6 one of a translation prefix stands
// for, else addr.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	b := addr.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr), netip.MustParsePrefix("64:ff9b:1::/48").Contains(addr), netip.MustParsePrefix("::/96").Contains(addr) && addr != netip.IPv6Loopback():
		return netip.AddrFrom4([4]byte(b[12:16]))
	case netip.MustParsePrefix("2002::/16").Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return addr
}

func in(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// localName reports whether a name is one of the user's own machine or network.
func localName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" {
		return false
	}
	if !strings.Contains(host, ".") {
		// An address in another notation (2130706433) is no name.
		return strings.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz") && !strings.HasPrefix(host, "0x") && !strings.Contains(host, ":")
	}
	for _, end := range []string{".localhost", ".local", ".lan", ".internal", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// loopbackName reports whether host is this machine, so that no proxy is asked.
func loopbackName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
