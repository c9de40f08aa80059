package permissions

import (
	"strings"
	"testing"
)

func TestProtected(t *testing.T) {
	const writing = `.git/hooks/x .git .gitmodules .gitconfig .ssh/config .ssh .gnupg/x .aws/x .kube/x .docker/x
		.config/autostart/x .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .inputrc
		.envrc .npmrc .netrc .pypirc .vimrc .tmux.conf .vscode/tasks.json .idea/x .claude/settings.json .cursor/x .husky/x
		.github/workflows/ci.yml .github/workflows .gitlab-ci.yml .mcp.json Library/LaunchAgents/x .config/systemd/user/x
		crontab crontabs/me spool/cron/me cron.d/x`
	const reading = `.env .env.local .env.production .env/x .ssh/id .ssh/x/y .gnupg/x .aws/credentials .netrc .git-credentials .npmrc
		.pypirc .kube/config .docker/config.json id_rsa id_rsa_old id_dsa id_ecdsa id_ed25519 id_ed25519_sk x.pem x.key x.p12 x.pfx x.kdbx
		.pem id_rsa/x`
	const freeToWrite = `.gitignore .github/x .config/x workflows/x .github git x.git .envx package.json .env x.pem bashrc
		.config/autostart.x LaunchAgents/x .bashrc.bak`
	const freeToRead = `.git/config .gitconfig .bashrc .ssh .aws/config .docker/x .envrc .environment env id_rsa.pub id_ed25519.PUB
		x.pem.txt key pem .kube/x known_hosts rsa`
	for _, tt := range []struct {
		names string
		ops   []Op
		want  bool
	}{
		{writing, []Op{OpWrite, OpDelete}, true},
		{reading, []Op{OpRead, OpList}, true},
		{freeToWrite, []Op{OpWrite, OpDelete}, false},
		{freeToRead, []Op{OpRead, OpList}, false},
	} {
		for _, n := range strings.Fields(tt.names) {
			variants := []string{"/r/" + n, "/r/vendor/sub/" + n, "/r/" + n + "/below/it", "/" + n}
			if tt.want {
				variants = append(variants, "/r/"+strings.ToUpper(n), "/r/"+n+".", "/r/"+n+" ", "/r/"+n[:1]+"\u200d"+n[1:])
				if n == ".ssh" || strings.HasPrefix(n, "id_") {
					variants = variants[:3]
				}
			} else {
				variants = variants[:2]
			}
			for _, v := range variants {
				for _, op := range tt.ops {
					if got := Protected(op, v, v); (got != "") != tt.want {
						t.Errorf("Protected(%s, %q) = %q, want protected %v", op, v, got, tt.want)
					}
					if tt.want && (Protected(op, v, "/plain") == "" || Protected(op, "/plain", v) == "") {
						t.Errorf("Protected(%s, %q) does not look at both spellings", op, v)
					}
				}
			}
		}
	}
	for _, p := range []string{"/proc/1/environ", "/sys/kernel/x", "/dev/sda", "/proc", "/dev/../dev"} {
		for _, op := range []Op{OpRead, OpList, OpWrite, OpDelete} {
			if Protected(op, p, p) == "" {
				t.Errorf("Protected(%s, %q) = \"\"", op, p)
			}
		}
	}
	for _, p := range []string{"/process/x", "/r/proc/x", "/devel", "/", ""} {
		if got := Protected(OpRead, p, p); got != "" {
			t.Errorf("Protected(read, %q) = %q", p, got)
		}
	}
	if got := Protected(OpWrite, "/r/GIT~1/hooks", "/r/GIT~1/hooks"); got != ".git" {
		t.Errorf("the short name of .git gives %q", got)
	}
}
