package shellscan

import (
	"strings"

	"zeroclaw/permissions"
)

// findTests are the parts of a find expression that the rules know, with the
// number of words behind each. All of them only look, or print to standard
// output, in GNU findutils, BusyBox and BSD find. What runs programs (-exec,
// -execdir, -ok, -okdir), deletes (-delete), writes files (-fls, -fprint,
// -fprint0, -fprintf), reads lists of paths (-files0-from) or follows links (-H,
// -L, -follow) is not here, nor -depth, which takes a number in BSD alone.
var findTests = map[string]int{
	"(": 0, ")": 0, "!": 0,
	"-a": 0, "-and": 0, "-o": 0, "-or": 0, "-not": 0,
	"-empty": 0, "-false": 0, "-true": 0, "-ls": 0, "-mount": 0, "-print": 0, "-print0": 0, "-prune": 0,
	"-quit": 0, "-xdev": 0, "-readable": 0, "-writable": 0, "-executable": 0,
	"-amin": 1, "-atime": 1, "-cmin": 1, "-ctime": 1, "-mmin": 1, "-mtime": 1,
	"-gid": 1, "-group": 1, "-uid": 1, "-user": 1,
	"-iname": 1, "-ipath": 1, "-iregex": 1, "-name": 1, "-path": 1, "-regex": 1, "-regextype": 1, "-wholename": 1,
	"-inum": 1, "-links": 1, "-maxdepth": 1, "-mindepth": 1, "-perm": 1, "-printf": 1, "-size": 1, "-type": 1,
	"-newer": 1,
}

// findPaths reads a find command: starting points, each walked, then an
// expression.
func findPaths(argv []word) ([]permissions.Operand, *Finding) {
	at := func(k Kind, w word) *Finding {
		return &Finding{Kind: k, Start: w.start, End: w.end, Of: "find"}
	}
	args := argv[1:]
	c := collector{walk: true}
	i := 0
	for ; i < len(args) && !startsExpression(args[i].text); i++ {
		switch w := args[i]; {
		case w.text == "":
			return nil, at(KindBlank, w)
		case w.text[0] == '+':
			return nil, at(KindPlus, w)
		default:
			c.add(w.text, permissions.OpList)
		}
	}
	if i == 0 {
		c.add(".", permissions.OpList)
	}
	for i < len(args) {
		w := args[i]
		n, ok := findTests[w.text]
		switch {
		case w.text == "-":
			return nil, at(KindDash, w)
		case !ok:
			return nil, at(KindExpression, w)
		case i+n >= len(args):
			return nil, at(KindNoValue, w)
		}
		if w.text == "-newer" {
			file := args[i+1]
			if file.text == "" || file.text == "-" {
				return nil, at(KindValue, file)
			}
			c.walk = false
			c.add(file.text, permissions.OpRead)
			c.walk = true
		}
		i += n + 1
	}
	return c.out, nil
}

// startsExpression follows POSIX: the first word that starts with "-", or is
// "(" or "!", ends the starting points. GNU find also takes ")" and ",", and
// words that only start with "(" or "!", as part of the expression.
func startsExpression(s string) bool {
	return s != "" && strings.ContainsRune("-(!),", rune(s[0]))
}
