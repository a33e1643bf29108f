package golden

import (
	"fmt"
	"strings"
)

const separator = "----"

// script is a parsed file. Joining its parts gives the file again, except for the
// form (plain or doubled) of expected outputs.
type script struct {
	blocks []*block
	tail   string // comments and blank lines after the last block
}

// block is one command with what stands around it.
type block struct {
	lead string // comments and blank lines before the command, verbatim
	line string // the command line and those that continue it, verbatim
	cmd  *Cmd
	want string // empty, or ends in a newline
	more bool   // a blank line follows the output
}

// lines walks a text and knows the number of the line it is at.
type lines struct {
	rest []string // each with its newline, but perhaps the last
	n    int      // number of the line last taken
}

func (l *lines) peek() (string, bool) {
	if len(l.rest) == 0 {
		return "", false
	}
	return l.rest[0], true
}

func (l *lines) take() string {
	s := l.rest[0]
	l.rest, l.n = l.rest[1:], l.n+1
	return s
}

func parse(path, text string) (*script, error) {
	s := &script{}
	l := &lines{}
	if text != "" {
		l.rest = strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		l.rest[len(l.rest)-1] += "\n"
	}
	for {
		var lead strings.Builder
		line, ok := l.peek()
		for ok && (blank(line) || strings.HasPrefix(line, "#")) {
			lead.WriteString(l.take())
			line, ok = l.peek()
		}
		if !ok {
			s.tail = lead.String()
			return s, nil
		}
		b := &block{lead: lead.String(), line: l.take()}
		pos := fmt.Sprintf("%s:%d", path, l.n)
		if err := b.parse(pos, l); err != nil {
			return nil, fmt.Errorf("%s: %w", pos, err)
		}
		s.blocks = append(s.blocks, b)
	}
}

// parse reads the input and the output of a block whose first line was taken.
func (b *block) parse(pos string, l *lines) error {
	if isSeparator(b.line) {
		return fmt.Errorf("%q without a command; output with blank lines stands between doubled separators", separator)
	}
	cmd, err := parseCmd(strings.TrimSpace(b.line))
	if err != nil {
		return err
	}
	cmd.Pos, b.cmd = pos, cmd
	var input, want strings.Builder
	for {
		line, ok := l.peek()
		if !ok {
			return fmt.Errorf("%s: no %q after the command", cmd.Name, separator)
		}
		l.take()
		if isSeparator(line) {
			break
		}
		input.WriteString(line)
	}
	cmd.Input = input.String()

	if line, ok := l.peek(); ok && isSeparator(line) { // the doubled form
		l.take()
		for {
			if len(l.rest) < 2 {
				return fmt.Errorf("%s: output is not closed by a doubled %q", cmd.Name, separator)
			}
			if isSeparator(l.rest[0]) && isSeparator(l.rest[1]) {
				l.take()
				l.take()
				break
			}
			want.WriteString(l.take())
		}
	} else {
		for line, ok := l.peek(); ok && !blank(line); line, ok = l.peek() {
			want.WriteString(l.take())
		}
	}
	b.want = want.String()
	if line, ok := l.peek(); ok && blank(line) {
		l.take()
		b.more = true
	}
	return nil
}

// String is the text of the script.
func (s *script) String() string {
	var out strings.Builder
	for i, b := range s.blocks {
		out.WriteString(b.lead + b.line + b.cmd.Input + separator + "\n")
		doubled := needsDoubling(b.want)
		if doubled {
			out.WriteString(separator + "\n")
		}
		out.WriteString(b.want)
		if doubled {
			out.WriteString(separator + "\n" + separator + "\n")
		}
		// Only a blank line ends the plain form before another block or comment.
		if b.more || i+1 < len(s.blocks) || s.tail != "" {
			out.WriteString("\n")
		}
	}
	out.WriteString(s.tail)
	return out.String()
}

// needsDoubling reports whether out needs the doubled form: in the plain form it would end too early, or look
// like the doubled form.
func needsDoubling(out string) bool {
	for line := range strings.Lines(out) {
		if blank(line) || isSeparator(line) {
			return true
		}
	}
	return false
}

// representable returns an error for output that neither form can represent.
func representable(out string) error {
	before := false
	for line := range strings.Lines(out) {
		sep := isSeparator(line)
		if sep && before {
			return fmt.Errorf("output has two lines %q in a row, which end an output", separator)
		}
		before = sep
	}
	if before {
		return fmt.Errorf("output ends in a line %q, which would end it too early", separator)
	}
	return nil
}

func blank(line string) bool       { return strings.TrimSpace(line) == "" }
func isSeparator(line string) bool { return strings.TrimRight(line, "\r\n") == separator }
