package lint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Fault is one breach of a rule.
type Fault struct {
	File string // slash-separated, relative to the module; a folder for its package
	Line int    // 0: the file as a whole
	Text string
}

// String is file:line: text.
func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// source is one file under examination.
type source struct {
	path      string // relative to the module
	dir       string // "" for the root
	text      []byte
	nested    bool // of another module inside this one
	generated bool
	fset      *token.FileSet
	ast       *ast.File // nil when it is not Go or does not parse
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// checker collects faults.
type checker struct {
	module string
	faults []Fault
}

func (c *checker) add(s *source, line int, format string, args ...any) {
	c.faults = append(c.faults, Fault{s.path, line, fmt.Sprintf(format, args...)})
}

// at adds a fault at a position of the syntax tree.
func (c *checker) at(s *source, pos token.Pos, format string, args ...any) {
	c.add(s, s.fset.Position(pos).Line, format, args...)
}

// Check checks the module whose go.mod is in root, and returns all faults,
// sorted by file and line. An error means that reading the files failed.
func Check(root string) ([]Fault, error) {
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	files, err := load(root)
	if err != nil {
		return nil, err
	}
	c := &checker{module: module}
	for _, s := range files {
		c.checkWords(s)
		c.checkPlace(s)
		if !isGo(s.path) {
			continue
		}
		c.parse(s)
		if s.ast == nil {
			continue
		}
		c.checkSize(s)
		c.checkFuncs(s)
		c.checkConfig(s)
		c.checkFormat(s)
		c.checkSeeds(s)
		c.checkKinds(s)
		c.checkDocs(s)
		if !s.nested {
			c.checkImports(s)
		}
	}
	c.checkPackageComments(files)
	c.checkFileLists(files)
	c.checkRecords(files)
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c.faults, nil
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	m := moduleLine.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
	}
	return string(m[1]), nil
}

// load reads the text files of the module. A file that goes away meanwhile is not
// an error.
func load(root string) ([]*source, error) {
	var files []*source
	nested := map[string]bool{} // folders of other modules
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipDir(d.Name()) {
				return filepath.SkipDir
			}
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			nested[rel] = rel != "." && (err == nil || nested[path.Dir(rel)])
			return nil
		}
		if !d.Type().IsRegular() || rel == ".git" { // the latter in a linked worktree of git
			return nil
		}
		text, err := readText(name)
		if err != nil || text == nil {
			return err
		}
		s := &source{path: rel, dir: path.Dir(rel), text: text, nested: nested[path.Dir(rel)]}
		if s.dir == "." {
			s.dir = ""
		}
		files = append(files, s)
		return nil
	})
	return files, err
}

// skipDir reports whether a folder is no part of the source: what version control,
// tools and runs leave behind.
func skipDir(name string) bool {
	return strings.HasPrefix(name, ".") && name != ".ci" && name != ".github" ||
		name == "vendor" || name == "bin" || strings.HasPrefix(name, "saga-run")
}

// readText returns the content of a text file, nil for any other.
func readText(name string) ([]byte, error) {
	const limit = 4 << 20
	st, err := os.Stat(name)
	if err == nil && st.Size() > limit {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil, err
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

// isGo reports whether the go command would read the file.
func isGo(p string) bool {
	return strings.HasSuffix(p, ".go") && !strings.Contains("/"+p, "/testdata/") && !strings.Contains("/"+p, "/_")
}

func (c *checker) parse(s *source) {
	s.fset = token.NewFileSet()
	f, err := parser.ParseFile(s.fset, s.path, s.text, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	switch {
	case errors.As(err, &list):
		c.add(s, list[0].Pos.Line, "does not parse: %s", list[0].Msg)
	case err != nil:
		c.add(s, 0, "does not parse: %v", err)
	default:
		s.ast = f
		s.generated = ast.IsGenerated(f)
	}
}

// under reports whether dir is one of the folders or below it.
func under(dir string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return dir == f || strings.HasPrefix(dir, f+"/") })
}
