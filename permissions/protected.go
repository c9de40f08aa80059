package permissions

import (
	"strings"
	"unicode"
)

// Protected returns the protected name that a path meets for an operation, or
// "": a file or folder of that name and everything below it, at any depth,
// without regard to case, as written (cleanPath) or as resolved (realPath).
// The names are those of SECURITY.md: files that are run or obeyed later
// ask before they are changed, files that hold secrets ask before they are
// read.
func Protected(op Op, cleanPath, realPath string) string {
	if name := protectedIn(op, cleanPath); name != "" || cleanPath == realPath {
		return name
	}
	return protectedIn(op, realPath)
}

func protectedIn(op Op, path string) string {
	for _, top := range [...]string{"/proc", "/sys", "/dev"} {
		if _, ok := relativeTo(top, path); ok {
			return top
		}
	}
	names := strings.Split(path, "/")
	for i, n := range names {
		names[i] = foldProtected(n)
	}
	writing := op.Access() == "W"
	for i, n := range names {
		if n == "" {
			continue
		}
		after := ""
		if i+1 < len(names) {
			after = names[i+1]
		}
		var hit string
		if writing {
			hit = protectedWrite(n, after)
		} else {
			hit = protectedRead(n, after)
		}
		if hit != "" {
			return hit
		}
	}
	return ""
}

var writeNames = func() map[string]string {
	m := map[string]string{
		"git~1":   ".git", // its short name on FAT and NTFS
		"crontab": "crontab", "crontabs": "crontabs", "cron.d": "cron.d", "cron.hourly": "cron.hourly",
		"cron.daily": "cron.daily", "cron.weekly": "cron.weekly", "cron.monthly": "cron.monthly",
	}
	for _, n := range strings.Fields(`
		.git .gitmodules .gitconfig .ssh .gnupg .aws .kube .docker
		.bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .inputrc
		.envrc .npmrc .netrc .pypirc .vimrc .tmux.conf .vscode .idea .claude .cursor .husky
		.gitlab-ci.yml .mcp.json`) {
		m[n] = n
	}
	return m
}()

// writePairs are two names in a row, already folded.
var writePairs = map[[2]string]string{
	{".config", "autostart"}:     ".config/autostart",
	{".config", "systemd"}:       ".config/systemd",
	{".github", "workflows"}:     ".github/workflows",
	{"library", "launchagents"}:  "Library/LaunchAgents",
	{"library", "launchdaemons"}: "Library/LaunchDaemons",
	{"spool", "cron"}:            "crontabs",
}

func protectedWrite(name, after string) string {
	if hit, ok := writeNames[name]; ok {
		return hit
	}
	return writePairs[[2]string{name, after}]
}

var readPairs = map[[2]string]string{
	{".aws", "credentials"}:    ".aws/credentials",
	{".kube", "config"}:        ".kube/config",
	{".docker", "config.json"}: ".docker/config.json",
}

func protectedRead(name, after string) string {
	switch name {
	case ".env", ".netrc", ".git-credentials", ".npmrc", ".pypirc":
		return name
	case ".ssh", ".gnupg":
		if after != "" {
			return name + "/*"
		}
		return ""
	}
	if strings.HasPrefix(name, ".env.") {
		return ".env.*"
	}
	for _, p := range [...]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, p) && !strings.HasSuffix(name, ".pub") {
			return p + "*"
		}
	}
	for _, s := range [...]string{".pem", ".key", ".p12", ".pfx", ".kdbx"} {
		if strings.HasSuffix(name, s) {
			return "*" + s
		}
	}
	return readPairs[[2]string{name, after}]
}

// foldProtected brings a name into the form that some volume may take it for:
// case-folded, without the characters that HFS+ ignores and without the dots
// and spaces at the end that FAT and NTFS drop.
func foldProtected(s string) string {
	s = strings.Map(func(r rune) rune {
		if ignoredByVolumes(r) {
			return -1
		}
		return r
	}, s)
	return strings.TrimRight(foldName(s), ". ")
}

func ignoredByVolumes(r rune) bool {
	return r >= 0x80 && (unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r))
}
