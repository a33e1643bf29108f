package pattern

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// drawPattern draws any pattern of up to n vertices, connected or not.
func drawPattern(t *rapid.T, n int) Pattern {
	p := New(rapid.IntRange(2, n).Draw(t, "vertices"))
	for i := range p.n {
		for j := range i {
			switch rapid.IntRange(0, 4).Draw(t, "pair") {
			case 0, 1:
				p = p.WithEdgeLabel(i, j, rapid.Int32Range(AnyLabel, 1).Draw(t, "edge label"))
			case 2:
				p = p.WithApart(i, j)
			}
		}
		if rapid.Bool().Draw(t, "labelled") {
			p = p.WithLabel(i, rapid.Int32Range(0, 1).Draw(t, "label"))
		}
	}
	return p
}

func drawPerm(t *rapid.T, n int) Perm {
	var s Perm
	for i, v := range rapid.Permutation([]uint8{0, 1, 2, 3, 4, 5, 6, 7}[:n]).Draw(t, "permutation") {
		s[i] = v
	}
	return s
}

// TestCanonical: renumbered patterns have one canonical form, which is isomorphic to them.
func TestCanonical(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		p := drawPattern(t, 7)
		q := p.Relabel(drawPerm(t, p.n))
		if p.Canonical() != q.Canonical() {
			t.Fatalf("%q and %q have the forms %q and %q", p, q, p.Canonical(), q.Canonical())
		}
		isomorphic := false
		p.mapsTo(p.Canonical(), func(Perm) bool { isomorphic = true; return false })
		if !isomorphic {
			t.Fatalf("%q has the form %q", p, p.Canonical())
		}
	})
}

// TestCanonicalTellsApart: two patterns of one form are isomorphic.
func TestCanonicalTellsApart(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		p, q := drawPattern(t, 4), drawPattern(t, 4)
		isomorphic := false
		p.mapsTo(q, func(Perm) bool { isomorphic = true; return false })
		if isomorphic != (p.Canonical() == q.Canonical()) {
			t.Fatalf("%q and %q: isomorphic %v", p, q, isomorphic)
		}
	})
}

// TestOrbits compares orbits with the automorphisms.
func TestOrbits(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		p := drawPattern(t, 6)
		low := p.Orbits()
		for v := range p.n {
			want := v
			for _, s := range p.Automorphisms() {
				want = min(want, int(s[v]))
			}
			if int(low[v]) != want {
				t.Fatalf("%q: vertex %d has orbit %d, want %d", p, v, low[v], want)
			}
		}
	})
}

// TestLess: parts of patterns keep labels and marks.
func TestLess(t *testing.T) {
	p := Must("0:1-[5]-1:2-2:3-0 2-[6]-3 1~3")
	if q, gone := p.WithoutEdge(2, 3); gone != 3 || q.String() != "0:1 1:2 2:3 0-[5]-1 0-2 1-2" {
		t.Errorf("%s, %d", q, gone)
	}
	if q, gone := p.WithoutEdge(1, 0); gone != -1 || q.String() != "0:1 1:2 2:3 0-2 1-2 2-[6]-3 1~3" {
		t.Errorf("%s, %d", q, gone)
	}
	if q := p.WithoutVertex(0); q.String() != "0:2 1:3 0-1 1-[6]-2 0~2" || !q.Connected() || p.WithoutVertex(2).Connected() {
		t.Errorf("%s", q)
	}
	if q := p.Add(9).WithEdgeLabel(4, 0, 8); q.String() != "0:1 1:2 2:3 4:9 0-[5]-1 0-2 0-[8]-4 1-2 2-[6]-3 1~3" || q.WithoutVertex(4) != p {
		t.Errorf("%s", q)
	}
}

// TestBreak: for every injective map to 0..n-1, exactly one of its orbit meets the
// constraints, the first in the order of the base.
func TestBreak(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		p := drawPattern(t, 5)
		group := p.Automorphisms()
		baseAs, to := drawPerm(t, p.n), drawPerm(t, p.n)
		var base []int
		for _, v := range baseAs[:p.n] {
			base = append(base, int(v))
		}
		less := Break(group, base)
		kept := 0
		for _, s := range group {
			ok := true
			for _, l := range less {
				ok = ok && to[s[l.A]] < to[s[l.B]]
			}
			if !ok {
				continue
			}
			kept++
			for _, r := range group {
				for _, v := range base {
					if to[s[v]] != to[r[v]] {
						if to[s[v]] > to[r[v]] {
							t.Fatalf("%v stays, though %v comes first", s, r)
						}
						break
					}
				}
			}
		}
		if kept != 1 {
			t.Fatalf("%d of %d matches stay", kept, len(group))
		}
	})
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "house.pattern")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("# a house\n0-1-2-3-0\n0-4-1 # the roof\n")
	if p, err := ReadFile(path); err != nil || p.Canonical() != Must("house").Canonical() {
		t.Errorf("%q, %v", p, err)
	}
	write("0-1\n1-x\n")
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "house.pattern: pattern: line 2, column 3") {
		t.Errorf("error %v", err)
	}
	write(strings.Repeat(" ", maxFile+1))
	if _, err := ReadFile(path); err == nil {
		t.Error("a large file was read")
	}
}

// FuzzParse: what is read is printed and read again as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"0-1-2-0", "0:5-1 1~2,2-0", "house", "# x\n0-1", "0-1 é", "7-6-5-4-3-2-1-0", "0-1:2147483646", "0-[3]-1:2147483647-[0]-2 0-1", "0-[2147483647]-1", "0-[1]-1-[2]-0", "0-[1-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		q, err := Parse(p.String())
		if err != nil || q != p {
			t.Fatalf("%q became %q, %v", p, q, err)
		}
	})
}
