package config

import (
	"bytes"
	"encoding/json"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/services/secrets"
)

// subsequence reports whether small is big with bytes left out.
func subsequence(small, big []byte) bool {
	for _, c := range small {
		i := bytes.IndexByte(big, c)
		if i < 0 {
			return false
		}
		big = big[i+1:]
	}
	return true
}

// nodes lists every node below n, itself included.
func nodes(n *node) []*node {
	list := []*node{n}
	for _, k := range n.keys {
		list = append(list, nodes(n.kids[k])...)
	}
	for _, e := range n.elems {
		list = append(list, nodes(e)...)
	}
	return list
}

// FuzzEdit changes one place of any valid text: the result must parse to
// exactly what was asked for (set and unset check that themselves), a new
// value leaves every old byte, a removal adds none, and replacing a scalar
// touches nothing but its bytes.
// path leads from the root to the node: strings for keys, ints for places in
// arrays.
func (n *node) path() []any {
	if n.parent == nil {
		return nil
	}
	if n.parent.kind == arrayNode || n.parent.kind == tablesNode {
		return append(n.parent.path(), n.index)
	}
	return append(n.parent.path(), n.name)
}

func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"", "a = 1", "[a]\nx = 1 # c\n\n# b\n[b]\r\ny = ['q', # r\n 's']\r\n", "\xef\xbb\xbfs = { a.b = 1, c = {} }\n",
		"[[m.s]]\nname = 'a'\n[m.s.env]\nK = \"\"\"x\n\"\"\"\n[[m.s]]\n", "a.b.c = 1\na.d = [[1, 2], [{ x = 1 }]]\n",
		"p = {\n  a = 1, # c\n  b = [1979-05-27 07:32:00, nan, inf], # d\n}", "\"q k\".'' = 1\n[x.y]\n[x]\n# end",
	} {
		for op := range uint8(5) {
			f.Add([]byte(text), uint16(1), op, "key", "value")
			f.Add([]byte(text), uint16(4), op, "k.q", "")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint16, op uint8, key, value string) {
		if len(text) > 4096 {
			return
		}
		d, err := parse(text)
		if err != nil {
			return
		}
		all := nodes(d.root)
		n := all[int(which)%len(all)]
		path := n.path()
		before := bytes.Clone(text)
		var out []byte
		switch op % 5 {
		case 0: // replace
			if len(path) == 0 || n.parent.kind == tablesNode {
				return
			}
			out, err = d.set(path, int64(len(value)))
			if n.kind == scalarNode && err == nil {
				if !bytes.HasPrefix(out, text[:n.start]) || !bytes.HasSuffix(out, text[n.end:]) || len(out) < n.start+len(text)-n.end {
					t.Errorf("replacing bytes %d to %d of %q gave %q", n.start, n.end, text, out)
				}
			}
		case 1, 2: // add a key, a table
			if n.kind != tableNode {
				return
			}
			v := any("v")
			if op%5 == 2 {
				path = join(path, value)
			}
			path = join(path, key)
			if d.find(path...) != nil || !fitsBelow(d, path) || !validKeys(path) {
				return
			}
			out, err = d.set(path, v)
			if err == nil && !subsequence(text, out) {
				t.Errorf("adding %v to %q lost bytes: %q", path, text, out)
			}
		case 3: // remove
			if len(path) == 0 {
				return
			}
			out, err = d.unset(path)
			if err == nil && !subsequence(out, text) {
				t.Errorf("removing %v from %q added bytes: %q", path, text, out)
			}
		case 4: // change an array
			if n.kind != arrayNode {
				return
			}
			list := n.plain().([]any)
			at := len(value) % (len(list) + 1)
			list = append(list[:at:at], append([]any{"new"}, list[at:]...)...)
			out, err = d.set(path, list)
			if err == nil && !subsequence(text, out) {
				t.Errorf("adding to %v of %q lost bytes: %q", path, text, out)
			}
		}
		if err != nil {
			t.Errorf("op %d at %v of %q: %v", op%5, path, text, err)
		}
		if !bytes.Equal(text, before) {
			t.Errorf("the text given was changed")
		}
	})
}

// fitsBelow reports whether only tables lie on the way.
func fitsBelow(d *document, path []any) bool {
	n, _ := d.walk(path)
	return n.kind == tableNode
}

func validKeys(path []any) bool {
	_, err := renderValue(setPlain(nil, path, "v"))
	for _, step := range path {
		if s, ok := step.(string); ok {
			if _, e := renderValue(s); e != nil {
				return false
			}
		}
	}
	return err == nil
}

// FuzzLoad reads anything as a configuration: no panic, nothing wider than
// asking unless the text says so, and a listing that JSON can hold and that
// shows no secret.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"permissions = 3", "[permissions]\npolicy = \"allow_all\"\ndirectories = [\"R:./a\", 3]\n[permissions.tools.x]\nmode = 1\n",
		"[[mcp.servers]]\nname = \"a\"\nenv = { K = \"planted\" }\n[mcp_bundles]\nb = 1\n[agents.a]\nmcp_bundles = [\"b\"]\ntools = { x = nan }\n",
		"mcp = { servers = [{ name = 1 }, 2] }\nproviders = [1]\nagents.assistant = 2\nrisk_profiles.p.level = []\n",
		"[providers.w]\napi_key = \"planted\"\nkind = \"openai\"\n[runtime_profiles.r]\ntool_filter_groups = [{ mode = 1 }, inf]\n",
	} {
		f.Add([]byte(text), "ZEROCLAW_mcp__servers__a__env", "{\"K\":\"planted\"}")
		f.Add([]byte(text), "ZEROCLAW_agents__a__tools__x", "a,b")
		f.Add([]byte(text), "ZEROCLAW_providers__w__api_key", "planted")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, variable, value string) {
		if len(text) > 4096 {
			return
		}
		store, err := secrets.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := &File{config: Config{Secrets: store}, path: "config.toml", env: overrides([]string{variable + "=" + value})}
		s, _ := file.load(content{target: "config.toml", data: text})
		if s.Permissions.Policy != permissions.PolicyAsk && !bytes.Contains(text, []byte("allow_all")) && !bytes.Contains(text, []byte(`\`)) && value != "allow_all" {
			t.Errorf("%q allows everything", text)
		}
		out, err := json.Marshal(s.List(""))
		if err != nil {
			t.Errorf("the listing of %q: %v", text, err)
		}
		for _, p := range s.Providers {
			if len(p.APIKey) > 12 && bytes.Count(text, []byte(p.APIKey)) == 1 && bytes.Contains(out, []byte(p.APIKey)) {
				t.Errorf("the listing of %q shows a key", text)
			}
		}
	})
}
