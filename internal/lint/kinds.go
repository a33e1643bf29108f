package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
)

// checkKinds reports comparisons of a device's kind with a literal. Everything that depends on the
// kind must be in the table of package backend, and other code must ask the kind's row.
func (c *checker) checkKinds(s *source) {
	if s.isTest() || under(s.dir, kindFolders) {
		return
	}
	report := func(e ast.Expr) {
		if kind, ok := kindLiteral(e); ok {
			c.at(s, e.Pos(), "compares with the device kind %q: ask the row of package backend", kind)
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				report(n.X)
				report(n.Y)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				report(e)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && isName(f.X, "strings") {
				for _, e := range n.Args {
					report(e)
				}
			}
		}
		return true
	})
}

var numbered = regexp.MustCompile(`:[\d,]*$`)

// kindLiteral is the device kind that e spells, alone or with numbers behind it.
func kindLiteral(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", false
	}
	kind := numbered.ReplaceAllString(text, "")
	return kind, slices.Contains(deviceKinds, kind)
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
