package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

// checkConfig checks that a Config does not change after Validate has checked it; values that the program
// chooses are stored elsewhere. It only looks at the syntax. It reports assignments to fields of a field named
// cfg, which holds a validated Config. In a function that calls x.Validate it also reports
// assignments to fields of x after the call.
func (c *checker) checkConfig(s *source) {
	if s.isTest() || s.generated || !under(s.dir, configured) {
		return
	}
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		valid := validated(f.Body)
		check := func(target ast.Expr) {
			names := strings.Split(variable(target), ".")
			for i := 1; i < len(names); i++ { // names[:i] has a field that changes
				owner := strings.Join(names[:i], ".")
				if at, ok := valid[owner]; names[i-1] == "cfg" && i > 1 || ok && target.Pos() > at {
					c.at(s, target.Pos(), "assigns to a field of %s, a Config that was validated", owner)
					return
				}
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, e := range x.Lhs {
					check(e)
				}
			case *ast.IncDecStmt:
				check(x.X)
			case *ast.RangeStmt:
				for _, e := range []ast.Expr{x.Key, x.Value} {
					if e != nil && x.Tok == token.ASSIGN {
						check(e)
					}
				}
			}
			return true
		})
	}
}

// validated returns for each variable the first call of its method Validate.
func validated(body ast.Node) map[string]token.Pos {
	calls := map[string]token.Pos{}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Validate" {
				name := variable(f.X)
				if at, ok := calls[name]; name != "" && (!ok || call.Pos() < at) {
					calls[name] = call.Pos()
				}
			}
		}
		return true
	})
	return calls
}

// variable is the chain of names in e, such as c or r.cfg; "" if e is anything else.
func variable(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if root := variable(x.X); root != "" {
			return root + "." + x.Sel.Name
		}
	case *ast.ParenExpr:
		return variable(x.X)
	case *ast.IndexExpr:
		return variable(x.X)
	case *ast.StarExpr:
		return variable(x.X)
	}
	return ""
}
