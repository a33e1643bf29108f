package lint

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRatchet compares what grows where nobody looks with the figures of ratchets, which may only fall: methods
// of types, calls that run against the order of a doc.go, circles of calls, tests of mode. -v prints the figures.
func TestRatchet(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	methods, modes, err := measure(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		n, most := methods[name], maxMethods
		if m, ok := manyMethods[name]; ok {
			most = m
			t.Logf("%s: %d methods, at most %d", name, n, m)
		}
		if n > most {
			t.Errorf("%s has %d methods, at most %d are allowed: give a part of its work a type of its own", name, n, most)
		}
	}
	t.Logf("saga: %d tests of mode, at most %d", modes, maxModes)
	if modes > maxModes {
		t.Errorf("package saga has %d tests of mode (if on %s), at most %d are allowed", modes, strings.Join(modeFields, ", "), maxModes)
	}
	if testing.Short() {
		return
	}
	list, err := rooms(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		circle := maxCircle
		if n, ok := largeCircles[r.dir]; ok {
			circle = n
		}
		back, ordered := backCalls[r.dir]
		t.Logf("%s: %d calls between files, %d of them back, largest circle %d files (at most %d)", r.dir, r.calls, len(r.back), len(r.circle), circle)
		if ordered && len(r.back) > back {
			t.Errorf("%s: %d calls run back to files that its doc.go lists earlier, at most %d are allowed: %s", r.dir, len(r.back), back, strings.Join(r.back, ", "))
		}
		if len(r.circle) > circle {
			t.Errorf("%s: %d files reach each other by calls, at most %d are allowed: %s", r.dir, len(r.circle), circle, strings.Join(r.circle, ", "))
		}
	}
}

func TestCircle(t *testing.T) {
	arrows := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true, "d": true}, "c": {"a": true}, "d": {"e": true}, "e": {"d": true}}
	if got := strings.Join(circle(arrows), " "); got != "a b c" {
		t.Errorf("largest circle %q", got)
	}
	if got := circle(map[string]map[string]bool{"a": {"b": true}}); got != nil {
		t.Errorf("circle %v of two files one of which calls the other", got)
	}
}

// TestCalls examines a package whose doc.go promises another order than its calls have.
func TestCalls(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, map[string]string{
		"go.mod":   mod,
		"p/doc.go": "// Package p: a.go, b_*.go, c.go.\npackage p\n",
		"p/a.go":   "package p\n\nfunc A() { B() }\n",
		"p/b_1.go": "package p\n\ntype T[X any] struct{}\n\nfunc B() { C(1) }\n\nfunc (T[X]) M() { A() }\n",
		"p/b_2.go": "package p\n\nfunc D() { B() }\n",
		"p/c.go":   "package p\n\nfunc C[X any](X) { T[X]{}.M() }\n",
	})
	list, err := rooms(root)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if r := list[0]; r.calls != 5 || strings.Join(r.back, ", ") != "b_1.go → a.go, c.go → b_1.go" || strings.Join(r.circle, " ") != "a.go b_1.go c.go" {
		t.Errorf("%+v", r)
	}
}
