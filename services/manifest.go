package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Names of the files in a service's folder.
const (
	ManifestName  = "service.json"
	InstallerName = "installer.json"
)

const maxManifest = 1 << 20

// ManifestError says what is wrong with a service's folder.
type ManifestError struct {
	// File is the absolute path, Line counts from 1 (0 = the whole file).
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

func (e *ManifestError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.File, e.Message)
}

// serviceID is what a folder and an id may be called: it becomes part of tool
// names, so no "__" and nothing that a provider refuses.
var serviceID = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

// texts is a text by language; a plain string is taken as English.
type texts map[string]string

func (t *texts) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = texts{"en": s}
		return nil
	}
	return json.Unmarshal(b, (*map[string]string)(t))
}

type manifest struct {
	SchemaVersion int    `json:"schemaVersion"`
	ID            string `json:"id"`
	DisplayName   texts  `json:"displayName"`
	Description   texts  `json:"description"`
	Help          any    `json:"help"`
	Launch        struct {
		Executable string            `json:"executable"`
		Args       []string          `json:"args"`
		Env        map[string]string `json:"env"`
		Cwd        string            `json:"cwd"`
		Handshake  float64           `json:"handshakeTimeoutSeconds"`
	} `json:"launch"`
	Options []struct {
		ID            string            `json:"id"`
		Type          string            `json:"type"`
		Label         texts             `json:"label"`
		Description   texts             `json:"description"`
		Default       any               `json:"default"`
		Choices       []string          `json:"choices"`
		ArgsWhenTrue  []string          `json:"argsWhenTrue"`
		ArgsWhenFalse []string          `json:"argsWhenFalse"`
		Args          []string          `json:"args"`
		Env           map[string]string `json:"env"`
	} `json:"options"`
	Autostart bool `json:"autostart"`
}

// LoadService reads the definition in a service's folder. It never fails: a
// folder that cannot be used gives a Spec whose Invalid says why. Fields that
// it does not know are ignored.
func LoadService(dir string) Spec {
	s := Spec{Name: filepath.Base(dir), Origin: OriginService, Transport: TransportStdio, Dir: dir,
		DisplayName: map[string]string{"en": filepath.Base(dir)}}
	if err := loadManifest(&s, filepath.Join(dir, ManifestName)); err != nil {
		s.Invalid = err
		return s
	}
	if err := loadInstaller(&s, filepath.Join(dir, InstallerName)); err != nil {
		s.Invalid = err
	}
	return s
}

func loadManifest(s *Spec, file string) *ManifestError {
	data, err := readSmall(file)
	if err != nil {
		return &ManifestError{File: file, Message: err.Error()}
	}
	var m manifest
	if e := strictJSON(file, data, &m); e != nil {
		return e
	}
	bad := func(message string, path ...any) *ManifestError {
		return &ManifestError{File: file, Line: lineOf(data, path), Message: message}
	}
	for _, take := range []func(*Spec, refusal) *ManifestError{m.identity, m.launch, m.options} {
		if e := take(s, bad); e != nil {
			return e
		}
	}
	if _, err := Expand(context.Background(), *s, nil, Vars{}.blank()); err != nil {
		return bad(err.Error(), "launch")
	}
	return nil
}

// refusal says what is wrong with the place that a path of names leads to.
type refusal func(message string, path ...any) *ManifestError

// identity takes what the service is called.
func (m *manifest) identity(s *Spec, bad refusal) *ManifestError {
	if m.SchemaVersion != 1 {
		return bad(fmt.Sprintf("schemaVersion is %d: this companion reads version 1", m.SchemaVersion), "schemaVersion")
	}
	if m.ID == "" {
		m.ID = s.Name
	}
	if !serviceID.MatchString(m.ID) || len(m.ID) > 48 {
		return bad(fmt.Sprintf("id %q cannot be used: take letters and digits with single _ or - between them, at most 48", m.ID), "id")
	}
	s.Name = m.ID
	if len(m.DisplayName) > 0 {
		s.DisplayName = m.DisplayName
	} else {
		s.DisplayName = map[string]string{"en": m.ID}
	}
	s.Description = m.Description
	switch h := m.Help.(type) {
	case string:
		s.Help = h
	case map[string]any:
		s.Help, _ = h["url"].(string)
	}
	return nil
}

// launch takes how the service is started.
func (m *manifest) launch(s *Spec, bad refusal) *ManifestError {
	if strings.TrimSpace(m.Launch.Executable) == "" {
		return bad("launch.executable is missing: name the program to start", "launch", "executable")
	}
	if m.Launch.Handshake < 0 || m.Launch.Handshake > 600 {
		return bad("launch.handshakeTimeoutSeconds must be between 0 (default) and 600", "launch", "handshakeTimeoutSeconds")
	}
	s.Command, s.Args, s.Cwd = m.Launch.Executable, m.Launch.Args, m.Launch.Cwd
	s.HandshakeTimeout = time.Duration(m.Launch.Handshake * float64(time.Second))
	s.Autostart = m.Autostart
	for _, k := range sortedKeys(m.Launch.Env) {
		if !envName(k) {
			return bad(fmt.Sprintf("launch.env: %q cannot be the name of an environment variable", k), "launch", "env", k)
		}
		s.Env = append(s.Env, k+"="+m.Launch.Env[k])
	}
	return nil
}

// options takes what a person can set.
func (m *manifest) options(s *Spec, bad refusal) *ManifestError {
	for i, o := range m.Options {
		opt := Option{ID: o.ID, Type: o.Type, Label: o.Label, Description: o.Description, Default: o.Default, Choices: o.Choices,
			ArgsWhenTrue: o.ArgsWhenTrue, ArgsWhenFalse: o.ArgsWhenFalse, Args: o.Args, Env: o.Env}
		if !serviceID.MatchString(o.ID) {
			return bad(fmt.Sprintf("options[%d].id %q cannot be used: take letters and digits with single _ or - between them", i, o.ID), "options", i, "id")
		}
		if slices.ContainsFunc(s.Options, func(p Option) bool { return p.ID == o.ID }) {
			return bad(fmt.Sprintf("options[%d].id %q is used twice", i, o.ID), "options", i, "id")
		}
		switch o.Type {
		case OptionBoolean, OptionString, OptionPath:
		case OptionEnum:
			if len(o.Choices) == 0 {
				return bad(fmt.Sprintf("option %q has no choices", o.ID), "options", i)
			}
		default:
			return bad(fmt.Sprintf("option %q has the type %q: it must be boolean, string, enum or path", o.ID, o.Type), "options", i, "type")
		}
		if o.Default == nil {
			opt.Default = zeroValue(opt)
		} else if err := checkValue(opt, o.Default); err != nil {
			return bad("default of "+err.Error(), "options", i, "default")
		}
		for _, k := range sortedKeys(o.Env) {
			if !envName(k) {
				return bad(fmt.Sprintf("option %q: %q cannot be the name of an environment variable", o.ID, k), "options", i, "env", k)
			}
		}
		s.Options = append(s.Options, opt)
	}
	return nil
}

func loadInstaller(s *Spec, file string) *ManifestError {
	data, err := readSmall(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &ManifestError{File: file, Message: err.Error()}
	}
	var m struct {
		Type    string `json:"type"`
		Product struct {
			Package, Version string
		} `json:"product"`
		Packages     map[string]string `json:"packages"`
		Requirements struct {
			Node struct {
				MinimumMajor int `json:"minimumMajor"`
			} `json:"node"`
		} `json:"requirements"`
	}
	if e := strictJSON(file, data, &m); e != nil {
		return e
	}
	bad := func(message string, path ...any) *ManifestError {
		return &ManifestError{File: file, Line: lineOf(data, path), Message: message}
	}
	switch m.Type {
	case "", "none":
		return nil
	case "npm", "python":
	default:
		return bad(fmt.Sprintf("type %q is not known: it must be npm, python or none", m.Type), "type")
	}
	in := &Installer{Type: m.Type, Packages: m.Packages, NodeMajor: m.Requirements.Node.MinimumMajor}
	if m.Product.Package != "" {
		in.Packages = map[string]string{m.Product.Package: m.Product.Version}
	}
	if len(in.Packages) == 0 {
		return bad("it names no package to install")
	}
	for _, name := range sortedKeys(in.Packages) {
		if v := in.Packages[name]; !exactVersion.MatchString(v) {
			return bad(fmt.Sprintf("the version %q of %s is not exact: write one like 1.2.3", v, name), "packages", name)
		}
	}
	s.Installer = in
	return nil
}

var exactVersion = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)*([-+.][0-9A-Za-z.+-]+)?$`)

func envName(k string) bool { return k != "" && !strings.ContainsAny(k, "=\x00") }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
