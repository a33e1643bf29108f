package lint

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkSize reports source files of more than maxLines, and tests of more than maxTestLines.
func (c *checker) checkSize(s *source) {
	most := maxLines
	if s.isTest() {
		most = maxTestLines
	}
	if n := bytes.Count(s.text, []byte("\n")); n > most && !s.generated {
		c.add(s, most+1, "%d lines, at most %d are allowed", n, most)
	}
}

// forTests reports whether s is a test or belongs to a package that only tests import.
func (s *source) forTests() bool { return s.isTest() || slices.Contains(testOnly, s.dir) }

// checkFuncs reports functions of more than maxFuncLines or maxBranches.
func (c *checker) checkFuncs(s *source) {
	if s.generated || s.forTests() {
		return
	}
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > maxFuncLines {
			c.at(s, f.Pos(), "function %s has %d lines, at most %d are allowed", f.Name.Name, n, maxFuncLines)
		}
		if n := branches(f.Body); n > maxBranches {
			c.at(s, f.Pos(), "function %s has %d branches, at most %d are allowed", f.Name.Name, n, maxBranches)
		}
	}
}

// branches counts if, for, range, each case but default, && and ||.
func branches(body ast.Node) (n int) {
	ast.Inspect(body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// record is a struct type with a name.
type record struct {
	at  *source
	pos token.Pos
	st  *ast.StructType
}

// checkRecords reports structs of more than maxFields. Fields of embedded structs of the
// module, and of structs without a name, are counted as fields of the outer struct.
func (c *checker) checkRecords(files []*source) {
	all := map[string]record{} // by folder.name
	for _, s := range files {
		if s.ast == nil || s.generated || s.forTests() || s.nested {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				if st, ok := t.Type.(*ast.StructType); ok {
					all[s.dir+"."+t.Name.Name] = record{s, t.Pos(), st}
				}
			}
			return true
		})
	}
	for name, r := range all {
		most := maxFields
		if n, ok := largeRecords[name]; ok {
			most = n
		}
		if n := c.fields(all, r.at, r.st); n > most {
			c.at(r.at, r.pos, "%s has %d fields, at most %d are allowed", name, n, most)
		}
	}
}

// fields counts the fields of st, a struct in s.
func (c *checker) fields(all map[string]record, s *source, st *ast.StructType) (n int) {
	for _, f := range st.Fields.List {
		names := max(1, len(f.Names))
		n += names
		if inner, ok := f.Type.(*ast.StructType); ok {
			n += names * c.fields(all, s, inner)
		} else if r, ok := all[c.typeName(s, f.Type)]; ok && f.Names == nil {
			n += c.fields(all, r.at, r.st)
		}
	}
	return n
}

// typeName is folder.name of a type of the module, "" of any other.
func (c *checker) typeName(s *source, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return "" // a pointer: what it points to is not part of the struct
	case *ast.Ident:
		return s.dir + "." + x.Name
	case *ast.SelectorExpr:
		from, ok := x.X.(*ast.Ident)
		if !ok {
			return ""
		}
		for _, spec := range s.ast.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			name := path.Base(target)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if dir, ours := strings.CutPrefix(target, c.module+"/"); ours && name == from.Name {
				return dir + "." + x.Sel.Name
			}
		}
	}
	return ""
}
