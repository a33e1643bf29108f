package main

import (
	"encoding/json"
	"os"
	"testing"
)

// config.json has every flag of a run by its name, whatever group help lists it under: what an
// older version wrote is read, and written again as it was.
func TestSavedSettings(t *testing.T) {
	text, err := os.ReadFile("testdata/version1/config.json")
	if err != nil {
		t.Fatal(err)
	}
	var old struct{ Settings map[string]json.RawMessage }
	var rec record
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	s := settings(rec.Settings)
	again, err := s.asMap()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range old.Settings {
		var a, b any
		if json.Unmarshal(value, &a) != nil || json.Unmarshal(again[name], &b) != nil {
			t.Errorf("%s: %s, then %s", name, value, again[name])
			continue
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("%s: %s, then %s", name, x, y)
		}
	}
	if len(old.Settings) < 40 {
		t.Errorf("only %d settings were compared", len(old.Settings))
	}
}

// TestAlike: a run goes on with other GPUs, as many, but not with more or fewer devices, or another kind.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"cuda:0,1", "cuda:2,3", true}, {"cuda:0,1", "cuda:0,0", true}, {"cuda", "cuda:1", true}, {"cpu", "cpu:1", true},
		{"cuda:0,1", "cuda:0", false}, {"cpu:2", "cuda:0,1", false}, {"cuda", "cuda:x", false}} {
		if got := alike(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
