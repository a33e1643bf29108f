package lint

import (
	"bytes"
	"go/build/constraint"
	"go/format"
	"path"
	"slices"
	"strings"
)

// checkWords reports words that no file may contain.
func (c *checker) checkWords(s *source) {
	n := 0
	for line := range bytes.Lines(s.text) {
		n++
		for _, w := range words {
			if bytes.Contains(line, []byte(w)) {
				c.add(s, n, "names a place outside the project: %q", w)
			}
		}
	}
}

// checkSeeds reports property tests whose cases do not come from package draw, as their
// runs would all differ.
func (c *checker) checkSeeds(s *source) {
	if !s.isTest() || s.dir == "internal/draw" {
		return
	}
	n := 0
	for line := range bytes.Lines(s.text) {
		n++
		for _, call := range []string{"Check", "MakeCheck"} {
			if bytes.Contains(line, []byte("rapid."+call+"(")) {
				c.add(s, n, "rapid.%s draws other cases in every run: call Check or Each of internal/draw", call)
			}
		}
	}
}

// checkPlace reports assembly, build tags and files for one system outside of their folders.
func (c *checker) checkPlace(s *source) {
	if under(s.dir, machine) {
		return
	}
	where := strings.Join(machine, ", ")
	switch path.Ext(s.path) {
	case ".s", ".S":
		c.add(s, 0, "assembly may stand below %s only", where)
	case ".go":
		if !isGo(s.path) || strings.HasSuffix(s.path, "_race_test.go") || strings.HasSuffix(s.path, "_norace_test.go") {
			return
		}
		if tag := systemOf(s.path); tag != "" {
			c.add(s, 0, "the ending _%s is a build tag, which may stand below %s only", tag, where)
		}
		n := 0
		for line := range strings.Lines(string(s.text)) {
			n++
			line = strings.TrimRight(line, "\r\n")
			if strings.HasPrefix(line, "package ") {
				return
			}
			if constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) {
				c.add(s, n, "build tags may stand below %s only, and in *_race_test.go and *_norace_test.go", where)
			}
		}
	}
}

// systems are the operating systems and processors of the go command that a file
// name may end in.
var systems = strings.Fields(`aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris
	wasip1 windows 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm`)

// systemOf is the system for which alone the go command reads the file, "" if for all.
func systemOf(p string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(p), ".go"), "_test")
	i := strings.LastIndexByte(name, '_')
	if tag := name[i+1:]; i >= 0 && slices.Contains(systems, tag) {
		return tag
	}
	return ""
}

// checkFormat checks that gofmt would not change the file.
func (c *checker) checkFormat(s *source) {
	want, err := format.Source(s.text)
	if err != nil || bytes.Equal(want, s.text) { // an error was reported by parse
		return
	}
	line := 1
	for i := 0; i < min(len(want), len(s.text)) && want[i] == s.text[i]; i++ {
		if want[i] == '\n' {
			line++
		}
	}
	c.add(s, line, "not formatted by gofmt")
}
