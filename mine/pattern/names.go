package pattern

import (
	"fmt"
	"strconv"
	"strings"
)

// shapes are the patterns with a name of their own.
var shapes = []struct{ name, text string }{
	{"edge", "0-1"},
	{"wedge", "0-1 0-2"},
	{"triangle", "0-1-2-0"},
	{"tailed-triangle", "0-1-2-0-3"},
	{"diamond", "0-1-2-0-3-1"},
	{"house", "0-1-2-3-0-4-1"},
}

// families are the patterns whose names end in their number of vertices.
var families = []struct {
	name  string
	least int
	pairs func(n, i, j int) bool // of i < j
}{
	{"clique", 2, func(_, _, _ int) bool { return true }},
	{"cycle", 3, func(n, i, j int) bool { return j == i+1 || i == 0 && j == n-1 }},
	{"path", 2, func(_, i, j int) bool { return j == i+1 }},
	{"star", 3, func(_, i, _ int) bool { return i == 0 }},
}

// Names lists the words that Parse knows, for help texts.
func Names() string {
	var words []string
	for _, s := range shapes {
		words = append(words, s.name)
	}
	for _, f := range families {
		words = append(words, fmt.Sprintf("%[1]s%[2]d to %[1]s%[3]d", f.name, f.least, MaxVertices))
	}
	return strings.Join(words, ", ")
}

// named is the pattern with the name word. ok is false, without an error, if word does not begin
// with a letter.
func named(word string) (p Pattern, ok bool, err error) {
	if word == "" || word[0] < 'a' || word[0] > 'z' {
		return p, false, nil
	}
	for _, s := range shapes {
		if s.name == word {
			return Must(s.text), true, nil
		}
	}
	for _, f := range families {
		rest, is := strings.CutPrefix(word, f.name)
		n, bad := strconv.Atoi(rest)
		if !is || bad != nil || n < f.least || n > MaxVertices {
			continue
		}
		p = New(n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if f.pairs(n, i, j) {
					p = p.WithEdge(i, j)
				}
			}
		}
		return p, true, nil
	}
	if len(word) > 32 {
		word = word[:32] + "…"
	}
	return p, false, &SyntaxError{1, 1, fmt.Sprintf("%q is no pattern; known names are %s", word, Names())}
}

// Name is the name of the pattern, "" if it has none. Numbering, labels and marks do not matter.
func (p Pattern) Name() string {
	c := p.Plain().Canonical()
	for _, s := range shapes {
		if Must(s.text).Canonical() == c {
			return s.name
		}
	}
	for _, f := range families {
		if q, ok, _ := named(f.name + strconv.Itoa(p.n)); ok && q.Canonical() == c {
			return f.name + strconv.Itoa(p.n)
		}
	}
	return ""
}
