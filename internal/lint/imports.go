package lint

import (
	"slices"
	"strconv"
	"strings"
)

// checkImports checks the imports of a file against the row of its part.
func (c *checker) checkImports(s *source) {
	own := rowOf(s.dir)
	if own == nil && s.dir != "" {
		c.add(s, 0, "no row of the import table in internal/lint/table.go covers package %s", s.dir)
		return
	}
	external := s.isTest() && strings.HasSuffix(s.ast.Name.Name, "_test")
	for _, spec := range s.ast.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // does not happen in a file that parsed
		}
		if target == "C" {
			if !under(s.dir, cgo) {
				c.at(s, spec.Pos(), `import "C" may stand below %s only`, strings.Join(cgo, ", "))
			}
			continue
		}
		pkg, ours := strings.CutPrefix(target, c.module+"/")
		if target == c.module {
			pkg, ours = "", true
		}
		switch {
		case !ours:
			if own != nil && own.std && !s.isTest() && strings.Contains(strings.Split(target, "/")[0], ".") {
				c.at(s, spec.Pos(), "%s may import the standard library only, not %s", own.part, target)
			}
		case slices.Contains(testOnly, pkg) && !s.isTest() && !strings.HasSuffix(s.ast.Name.Name, "test"):
			c.at(s, spec.Pos(), "%s is for tests only", pkg)
		case external, own == nil: // tests from outside and the root package see everything
		case s.isTest() && lower(own, pkg):
		case !allowed(own, pkg):
			c.at(s, spec.Pos(), "%s may not import %s: %s", s.dir, orRoot(pkg), own.describe())
		}
	}
}

// rowOf is the row with the longest part that contains the folder; nil if there is none.
func rowOf(dir string) *row {
	var best *row
	for i := range imports {
		r := &imports[i]
		if under(dir, []string{r.part}) && (best == nil || len(r.part) > len(best.part)) {
			best = r
		}
	}
	return best
}

func allowed(own *row, pkg string) bool {
	target := rowOf(pkg)
	return target != nil && (target == own || slices.Contains(own.may, target.part) || slices.Contains(own.may, pkg))
}

// lower reports whether the package stands below the part in descent. Internal
// packages stand below all others.
func lower(own *row, pkg string) bool {
	target := rowOf(pkg)
	if target == nil {
		return false
	}
	return under(pkg, []string{"internal"}) ||
		slices.Index(descent, target.part) > slices.Index(descent, own.part)
}

func (r *row) describe() string {
	if len(r.may) == 0 {
		return "of the module it may import nothing"
	}
	return "of the module it may import " + strings.Join(r.may, ", ")
}

func orRoot(pkg string) string {
	if pkg == "" {
		return "the root package"
	}
	return pkg
}
