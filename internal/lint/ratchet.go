package lint

import (
	"go/ast"
	"slices"
)

// measure counts the methods of every type of the module, as folder.name, files of all builds taken together, and
// the tests of mode in package saga: conditions of if that read a field which tells what kind of program this is.
func measure(root string) (methods map[string]int, modes int, err error) {
	files, err := load(root)
	if err != nil {
		return nil, 0, err
	}
	c := &checker{}
	methods = map[string]int{}
	for _, s := range files {
		if !isGo(s.path) {
			continue
		}
		if c.parse(s); s.ast == nil || s.generated || s.forTests() || s.nested {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[s.dir+"."+receiver(f)]++
			}
		}
		if s.dir == "saga" {
			ast.Inspect(s.ast, func(n ast.Node) bool {
				if i, ok := n.(*ast.IfStmt); ok && readsMode(i.Cond) {
					modes++
				}
				return true
			})
		}
	}
	return methods, modes, nil
}

// readsMode tells whether e reads one of modeFields.
func readsMode(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(modeFields, s.Sel.Name) {
			found = true
		}
		return !found
	})
	return found
}
