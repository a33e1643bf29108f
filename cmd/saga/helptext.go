package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/cheggaaa/pb/v3/termutil"
	"github.com/mattn/go-isatty"
)

// printHelp prints kong's help in lines that fit, also of examples and tables, which kong leaves as they are.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	out, width := ctx.Stdout, helpWidth(ctx.Stdout)
	before, had := os.LookupEnv("COLUMNS")
	if err := os.Setenv("COLUMNS", strconv.Itoa(width)); err != nil { // kong wraps the rest by it
		return err
	}
	var text bytes.Buffer
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(o, ctx)
	ctx.Stdout = out
	if had {
		os.Setenv("COLUMNS", before)
	} else {
		os.Unsetenv("COLUMNS")
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(out, fold(strings.TrimSuffix(line, "\n"), width)); err != nil {
			return err
		}
	}
	return nil
}

// helpWidth is the width of the terminal, or 80.
func helpWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		if n, err := termutil.TerminalWidth(); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// fold breaks a line at spaces, or behind commas and semicolons, so that it has at most width characters. A command goes on
// behind a backslash, and the second column of a table below itself.
func fold(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line + "\n"
	}
	text := strings.TrimLeft(line, " ")
	indent, end := strings.Repeat(" ", len(line)-len(text)), ""
	switch i := strings.Index(text, "  "); {
	case strings.HasPrefix(text, "saga ") && i < 0:
		indent, end = indent+"  ", " \\"
	case i > 0 && len(indent)+i < width/2:
		column := len(text[:i]) + len(text[i:]) - len(strings.TrimLeft(text[i:], " "))
		indent += strings.Repeat(" ", column)
	}
	if len(indent) > width/2 {
		indent = "      "
	}
	var b strings.Builder
	for utf8.RuneCountInString(line) > width {
		runes := []rune(line)
		at := breakAt(runes, width-len(end), len(indent))
		if at == 0 {
			break
		}
		b.WriteString(strings.TrimRight(string(runes[:at]), " ") + end + "\n")
		line = indent + strings.TrimLeft(string(runes[at:]), " ")
	}
	return b.String() + line + "\n"
}

// breakAt is where a line of more than width runes is broken, behind its first ones; 0: nowhere.
func breakAt(line []rune, width, indent int) int {
	for _, behind := range []string{" ", ",;"} {
		for i := min(width, len(line)-1); i > indent+1; i-- {
			switch {
			case behind == " " && line[i] == ' ' && strings.TrimSpace(string(line[:i])) != "":
				return i
			case behind != " " && strings.ContainsRune(behind, line[i-1]):
				return i
			}
		}
	}
	return 0
}
