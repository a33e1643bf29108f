package lint

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkDocs reports exported functions, methods of exported types,
// types, constants and variables without a comment. A comment on a parenthesised group covers
// the constants, variables and aliases in it.
func (c *checker) checkDocs(s *source) {
	if s.isTest() || s.generated {
		return
	}
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			kind := "function"
			if d.Recv != nil {
				kind = "method"
				if !ast.IsExported(receiver(d)) {
					continue
				}
			}
			if d.Name.IsExported() && d.Doc.Text() == "" {
				c.at(s, d.Pos(), "exported %s %s has no comment", kind, funcName(d))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				c.checkSpec(s, d, spec)
			}
		}
	}
}

func (c *checker) checkSpec(s *source, d *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		covered := d.Doc.Text() != "" && (!d.Lparen.IsValid() || spec.Assign.IsValid())
		if spec.Name.IsExported() && !covered && spec.Doc.Text() == "" && spec.Comment.Text() == "" {
			c.at(s, spec.Pos(), "exported type %s has no comment", spec.Name.Name)
		}
	case *ast.ValueSpec:
		if d.Doc.Text() != "" || spec.Doc.Text() != "" || spec.Comment.Text() != "" {
			return
		}
		kind := "variable"
		if d.Tok == token.CONST {
			kind = "constant"
		}
		for _, name := range spec.Names {
			if name.IsExported() {
				c.at(s, name.Pos(), "exported %s %s has no comment", kind, name.Name)
			}
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr: // one type parameter
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return receiver(d) + "." + d.Name.Name
}

// checkPackageComments reports packages without a comment in any of their files. A
// folder with only tests needs none.
func (c *checker) checkPackageComments(files []*source) {
	documented := map[string]bool{}
	first := map[string]*source{}
	var dirs []string
	for _, s := range files {
		if s.ast == nil || s.isTest() {
			continue
		}
		if first[s.dir] == nil {
			first[s.dir] = s
			dirs = append(dirs, s.dir)
		}
		if strings.TrimSpace(s.ast.Doc.Text()) != "" {
			documented[s.dir] = true
		}
	}
	for _, dir := range dirs {
		if !documented[dir] {
			c.at(first[dir], first[dir].ast.Package, "package %s has no comment in any file: write a doc.go", first[dir].ast.Name.Name)
		}
	}
}

var fileName = regexp.MustCompile(`[\w*]+\.go\b`)

// checkFileLists checks that a doc.go that names files of its package names all of them, and no others. A
// name may have stars. Tests and generated files need not be named.
func (c *checker) checkFileLists(files []*source) {
	have := map[string][]string{} // by folder
	for _, s := range files {
		if isGo(s.path) {
			have[s.dir] = append(have[s.dir], path.Base(s.path))
		}
	}
	for _, s := range files {
		if path.Base(s.path) != "doc.go" || slices.Contains(namedByRule, s.dir) {
			continue
		}
		names := fileName.FindAllString(string(s.text), -1)
		if len(names) == 0 {
			continue
		}
		for _, n := range names {
			if !slices.ContainsFunc(have[s.dir], func(f string) bool { return matches(n, f) }) {
				c.add(s, 0, "names %s, which is not there", n)
			}
		}
		for _, f := range have[s.dir] {
			if f == "doc.go" || strings.HasSuffix(f, "_test.go") || slices.ContainsFunc(names, func(n string) bool { return matches(n, f) }) {
				continue
			}
			c.add(s, 0, "does not name %s", f)
		}
	}
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
