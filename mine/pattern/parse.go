package pattern

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"sagann/internal/regular"
)

// SyntaxError says where the text of a pattern is wrong.
type SyntaxError struct {
	Line, Column int // from 1; the column counts characters
	Text         string
}

// Error names the line, the column and what is wrong.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("pattern: line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Parse reads a pattern. Text is a name (see Names), or a list of chains separated by
// spaces, commas or ends of lines:
//
//	0-1 1-2 2-0     edges
//	0-1-2-0         the same as one chain
//	0~3             0 and 3 must not be neighbours
//	0-[3]-1         an edge that must have label 3
//	2:5             vertex 2 must have label 5; also inside a chain, 0-2:5
//
// Vertices are numbered from 0 without gaps, at most MaxVertices of them. A comment goes from # to
// the end of the line. Errors of syntax are a *SyntaxError.
func Parse(text string) (Pattern, error) {
	p, ok, err := named(strings.TrimSpace(text))
	if ok || err != nil {
		return p, err
	}
	s := &scanner{text: text, line: 1, column: 1}
	for s.skip() {
		if err := s.chain(&p); err != nil {
			return Pattern{}, err
		}
	}
	for v := range p.n {
		if !s.seen[v] {
			return Pattern{}, fmt.Errorf("pattern: vertex %d does not occur, but %d does: numbers have no gaps", v, p.n-1)
		}
	}
	if err := p.Check(); err != nil {
		return Pattern{}, fmt.Errorf("pattern: %w", err)
	}
	return p, nil
}

// Must is Parse for texts that are known to be right; it panics where Parse has an error.
func Must(text string) Pattern {
	p, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return p
}

// maxFile bounds the bytes of a pattern's file: 28 pairs and 36 labels need far less.
const maxFile = 1 << 16

// ReadFile reads the pattern in the file at path.
func ReadFile(path string) (Pattern, error) {
	f, err := regular.Open(path)
	if err != nil {
		return Pattern{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Pattern{}, err
	}
	if len(text) > maxFile {
		return Pattern{}, fmt.Errorf("%s: more than %d bytes: not the file of a pattern", path, maxFile)
	}
	p, err := Parse(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return p, err
}

// scanner reads the text of a pattern.
type scanner struct {
	text         string // what is left
	line, column int
	seen         [MaxVertices]bool
}

func (s *scanner) fail(format string, a ...any) error {
	return &SyntaxError{s.line, s.column, fmt.Sprintf(format, a...)}
}

// next takes the first character.
func (s *scanner) next() {
	r, n := utf8.DecodeRuneInString(s.text)
	s.text = s.text[n:]
	s.column++
	if r == '\n' {
		s.line, s.column = s.line+1, 1
	}
}

// skip passes what separates chains; false at the end of the text.
func (s *scanner) skip() bool {
	for s.text != "" {
		switch s.text[0] {
		case ' ', '\t', '\r', '\n', ',':
			s.next()
		case '#':
			for s.text != "" && s.text[0] != '\n' {
				s.next()
			}
		default:
			return true
		}
	}
	return false
}

// chain reads vertices with - or ~ between them.
func (s *scanner) chain(p *Pattern) error {
	v, err := s.vertex(p)
	for err == nil && s.text != "" && (s.text[0] == '-' || s.text[0] == '~') {
		mark, at := s.text[0], *s
		s.next()
		kind := AnyLabel
		if mark == '-' && strings.HasPrefix(s.text, "[") {
			if kind, err = s.edgeLabel(); err != nil {
				return err
			}
		}
		var w int
		if w, err = s.vertex(p); err != nil {
			return err
		}
		if v == w {
			return at.fail("vertex %d cannot be its own neighbour", v)
		}
		switch have := p.EdgeLabel(v, w); {
		case kind != AnyLabel && have != AnyLabel && int(have) != kind:
			return at.fail("the edge between %d and %d has the labels %d and %d", v, w, have, kind)
		case kind != AnyLabel:
			*p = p.WithEdgeLabel(v, w, int32(kind))
		case mark == '-':
			*p = p.WithEdge(v, w)
		default:
			*p = p.WithApart(v, w)
		}
		if p.edge[v]&p.none[v] != 0 {
			return at.fail("the pair %d and %d is both an edge and marked ~", v, w)
		}
		v = w
	}
	if err == nil && s.text != "" && !strings.ContainsRune(" \t\r\n,#", rune(s.text[0])) {
		r, _ := utf8.DecodeRuneInString(s.text)
		return s.fail("unexpected %q; wanted -, ~, : or a space", r)
	}
	return err
}

// vertex reads a number and, after a colon, a label.
func (s *scanner) vertex(p *Pattern) (int, error) {
	at := *s
	v, err := s.number("a vertex number")
	if err != nil {
		return 0, err
	}
	if v >= MaxVertices {
		return 0, at.fail("vertex %d: a pattern has at most %d vertices, 0 to %d", v, MaxVertices, MaxVertices-1)
	}
	s.seen[v] = true
	p.n = max(p.n, v+1)
	if !strings.HasPrefix(s.text, ":") {
		return v, nil
	}
	s.next()
	at = *s
	label, err := s.number("a label")
	if err != nil {
		return 0, err
	}
	if have := p.Label(v); have != AnyLabel && have != int32(label) {
		return 0, at.fail("vertex %d has the labels %d and %d", v, have, label)
	}
	*p = p.WithLabel(v, int32(label))
	return v, nil
}

// edgeLabel reads the label of an edge and the dash behind it, as in 0-[3]-1.
func (s *scanner) edgeLabel() (int, error) {
	s.next()
	label, err := s.number("a label")
	if err != nil {
		return 0, err
	}
	for _, want := range "]-" {
		if !strings.HasPrefix(s.text, string(want)) {
			return 0, s.fail("wanted %q: an edge with a label is written 0-[3]-1", want)
		}
		s.next()
	}
	return label, nil
}

// number reads digits; vertices and labels are at most 2^31-1.
func (s *scanner) number(what string) (int, error) {
	at, n, digits := *s, 0, 0
	for s.text != "" && '0' <= s.text[0] && s.text[0] <= '9' {
		n = 10*n + int(s.text[0]-'0')
		if n > math.MaxInt32 {
			return 0, at.fail("the number is too large; the largest is %d", math.MaxInt32)
		}
		digits++
		s.next()
	}
	switch {
	case digits > 0:
		return n, nil
	case s.text == "":
		return 0, s.fail("the text ends, but %s is missing", what)
	}
	r, _ := utf8.DecodeRuneInString(s.text)
	return 0, s.fail("unexpected %q; wanted %s", r, what)
}
