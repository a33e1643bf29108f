package lint

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// room is what the calls of one package look like. A call is a pair of files: a function of the first calls a function
// or method of the second.
type room struct {
	dir    string
	calls  int      // pairs of different files
	back   []string // those to a file that doc.go lists earlier, "a.go → b.go"
	circle []string // the largest set of files that reach each other by calls; nil if there is none
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	Standard                bool
	GoFiles                 []string
}

// rooms examines the packages of the module at root whose doc.go lists files, as the default build has them.
func rooms(root string) ([]room, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,Standard,GoFiles", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	exports := map[string]string{}
	var ours []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if rel, err := filepath.Rel(root, p.Dir); err == nil && !p.Standard && !strings.HasPrefix(rel, "..") {
			ours = append(ours, p)
		}
	}
	var list []room
	for _, p := range ours {
		text, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		rel, _ := filepath.Rel(root, p.Dir)
		dir := filepath.ToSlash(rel)
		if err != nil || slices.Contains(namedByRule, dir) {
			continue
		}
		names := fileName.FindAllString(string(text), -1)
		if len(names) == 0 {
			continue
		}
		r, err := examine(p, names, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		r.dir = dir
		list = append(list, *r)
	}
	return list, nil
}

// examine finds the calls between the files of p. names are the files in the order of its doc.go.
func examine(p goPackage, names []string, exports map[string]string) (*room, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{FakeImportC: true, Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	file := func(pos token.Pos) string { return path.Base(fset.Position(pos).Filename) }
	rank := func(name string) int { return slices.IndexFunc(names, func(n string) bool { return matches(n, name) }) }
	arrows := map[string]map[string]bool{}
	r := &room{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			callee, ok := info.Uses[calledName(call.Fun)].(*types.Func)
			if !ok || callee.Pkg() != pkg || callee.Origin() == nil {
				return true
			}
			from, to := file(call.Pos()), file(callee.Origin().Pos())
			if from == to || arrows[from][to] {
				return true
			}
			if arrows[from] == nil {
				arrows[from] = map[string]bool{}
			}
			arrows[from][to] = true
			r.calls++
			if a, b := rank(from), rank(to); a >= 0 && b >= 0 && b < a {
				r.back = append(r.back, from+" → "+to)
			}
			return true
		})
	}
	slices.Sort(r.back)
	r.circle = circle(arrows)
	return r, nil
}

// calledName is the name of what a call calls, nil if it has none.
func calledName(f ast.Expr) *ast.Ident {
	switch x := f.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.ParenExpr:
		return calledName(x.X)
	case *ast.IndexExpr:
		return calledName(x.X)
	case *ast.IndexListExpr:
		return calledName(x.X)
	}
	return nil
}

// circle is the largest set of names that reach each other by arrows, sorted; nil if no two do.
func circle(arrows map[string]map[string]bool) []string {
	reach := map[string]map[string]bool{}
	for from := range arrows {
		seen, queue := map[string]bool{}, []string{from}
		for len(queue) > 0 {
			x := queue[0]
			queue = queue[1:]
			for to := range arrows[x] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		reach[from] = seen
	}
	var largest []string
	for a := range reach {
		var set []string
		for b := range reach[a] {
			if reach[b][a] {
				set = append(set, b)
			}
		}
		slices.Sort(set)
		if len(set) > len(largest) || len(set) == len(largest) && slices.Compare(set, largest) < 0 {
			largest = set
		}
	}
	if len(largest) < 2 {
		return nil
	}
	return largest
}
