package golden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Cmd is one command of a script.
type Cmd struct {
	Name  string // first word of the line
	Args  []Arg  // the other words
	Line  string // the whole line
	Input string // lines between the command and "----", each with its newline
	Pos   string // file:line of the command
}

// Arg is one word of a command line: "key", "key=value" or "key=(value,value)".
type Arg struct {
	Key  string
	Vals []string // nil for a bare key
}

// parseCmd splits a line at spaces outside parentheses.
func parseCmd(line string) (*Cmd, error) {
	var words []string
	depth, start := 0, 0
	for i, r := range line + " " {
		switch {
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth < 0 {
				return nil, fmt.Errorf("%q: ')' without '('", line)
			}
		case (r == ' ' || r == '\t') && depth == 0:
			if i > start {
				words = append(words, line[start:i])
			}
			start = i + 1
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%q: '(' is not closed", line)
	}
	cmd := &Cmd{Name: words[0], Line: line}
	for _, w := range words[1:] {
		key, val, valued := strings.Cut(w, "=")
		a := Arg{Key: key}
		switch {
		case key == "":
			return nil, fmt.Errorf("%q: argument %q has no key", line, w)
		case strings.HasPrefix(val, "(") && strings.HasSuffix(val, ")"):
			for v := range strings.SplitSeq(val[1:len(val)-1], ",") {
				a.Vals = append(a.Vals, strings.TrimSpace(v))
			}
		case valued:
			a.Vals = []string{val}
		}
		if cmd.Has(key) {
			return nil, fmt.Errorf("%q: argument %q stands twice", line, key)
		}
		cmd.Args = append(cmd.Args, a)
	}
	return cmd, nil
}

// Has reports whether the command has the argument, with or without a value.
func (c *Cmd) Has(key string) bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool { return a.Key == key })
}

// Vals returns the values of an argument, nil when it is absent.
func (c *Cmd) Vals(key string) []string {
	for _, a := range c.Args {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

// String returns the one value of an argument, or def when it is absent. The test
// ends when the argument has no value or several.
func (c *Cmd) String(t testing.TB, key, def string) string {
	t.Helper()
	if !c.Has(key) {
		return def
	}
	vals := c.Vals(key)
	if len(vals) != 1 {
		t.Fatalf("%s: argument %s has %d values, want 1", c.Pos, key, len(vals))
	}
	return vals[0]
}

// Int returns the one value of an argument as an integer, or def when it is
// absent. The test ends when it is not one integer.
func (c *Cmd) Int(t testing.TB, key string, def int) int {
	t.Helper()
	if !c.Has(key) {
		return def
	}
	n, err := strconv.Atoi(c.String(t, key, ""))
	if err != nil {
		t.Fatalf("%s: argument %s: %v", c.Pos, key, err)
	}
	return n
}

// Float returns the one value of an argument as a number, or def when it is
// absent. The test ends when it is not one number.
func (c *Cmd) Float(t testing.TB, key string, def float64) float64 {
	t.Helper()
	if !c.Has(key) {
		return def
	}
	x, err := strconv.ParseFloat(c.String(t, key, ""), 64)
	if err != nil {
		t.Fatalf("%s: argument %s: %v", c.Pos, key, err)
	}
	return x
}

// Lines returns the lines of the input without their newlines.
func (c *Cmd) Lines() []string {
	if c.Input == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(c.Input, "\n"), "\n")
}
