package main

import (
	"errors"
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	now := time.Date(2026, 12, 1, 10, 30, 0, 0, zone)
	tests := []struct{ text, want string }{
		{"12h", "2026-12-01T22:30:00+09:00"},
		{"1h30m", "2026-12-01T12:00:00+09:00"},
		{"30d", "2026-12-31T10:30:00+09:00"},
		{"2027-01-31", "2027-02-01T00:00:00+09:00"},
		{"2026-12-01", "2026-12-02T00:00:00+09:00"},
		{"2026-11-30", ""},
		{"2027-02-30", ""},
		{"", ""},
		{"d", ""},
		{"0d", ""},
		{"-3d", ""},
		{"3dd", ""},
		{"3d1h", ""},
		{"1.5d", ""},
		{"99999999999999999999d", ""},
		{"-2h", ""},
		{"0s", ""},
		{"9999999h", ""},
		{"tomorrow\x1b[2J", ""},
		{"30 d", ""},
		{"3d x", ""},
	}
	for _, tt := range tests {
		got, err := expiry(tt.text, now)
		if tt.want == "" {
			if f := (failure{}); !errors.As(err, &f) || f.code != exitUsage || f.hint == "" {
				t.Errorf("expiry(%q) = %v, %v, want a failure of usage with a hint", tt.text, got, err)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339) != tt.want {
			t.Errorf("expiry(%q) = %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestTokenOf(t *testing.T) {
	all := []token{{ID: "A1", Name: "Editor"}, {ID: "B2", Name: "A1"}, {ID: "C3", Name: "other"}}
	for wanted, id := range map[string]string{"A1": "A1", "B2": "B2", "Editor": "A1", "EDITOR": "A1", "other": "C3", "nope": "", "": ""} {
		got, err := tokenOf(all, wanted)
		if (err == nil) != (id != "") || got.ID != id {
			t.Errorf("tokenOf(%q) = %+v, %v, want %q", wanted, got, err, id)
		}
	}
}
