package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedFiles: the files and tests that ARCHITECTURE.md and CONTRIBUTING.md name are there. A name without a folder lies in the
// one named before it.
func TestNamedFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}
	var tests strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && skipDir(d.Name()) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, "_test.go") {
			text, wrong := os.ReadFile(path)
			tests.Write(text)
			err = wrong
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		folder, named := ".", 0
		for _, m := range regexp.MustCompile("`([\\w/.-]+)`|\\]\\(([\\w/.-]+)\\)").FindAllStringSubmatch(string(text), -1) {
			name := m[1] + m[2]
			if rest, short := strings.CutPrefix(name, "plan/"); short {
				name = "dataflow/plan/" + rest
			}
			switch {
			case exists(name) && strings.Contains(name, "/"):
				if folder = filepath.Dir(name); filepath.Ext(name) == "" {
					folder = name
				}
				named++
			case filepath.Ext(name) == ".go" && !exists(folder+"/"+name), filepath.Ext(name) == ".md" && !exists(name):
				t.Errorf("%s names %s, which is neither there nor in %s", doc, name, folder)
			}
		}
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(text), -1) {
			if named++; !strings.Contains(tests.String(), "func "+name+"(") {
				t.Errorf("%s names %s, and there is no such test", doc, name)
			}
		}
		if named < 10 {
			t.Errorf("%s names %d files and tests", doc, named)
		}
	}
}
