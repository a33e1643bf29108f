package pattern

import "math/bits"

// Less says that a match maps vertex A to a lower vertex of the graph than vertex B.
type Less struct{ A, B int }

// Break returns constraints that break the symmetry of a pattern: exactly one match of each
// orbit under the group fulfils them. It is the match whose vertices, read in the order of base,
// come first lexicographically. base lists every vertex of the pattern once.
//
// For each vertex of base in turn, consider its orbit under those members of the group that fix all
// earlier vertices of base. The constraints say that the vertex has the lowest image of its orbit.
func Break(group []Perm, base []int) []Less {
	var out []Less
	stable := group
	for _, a := range base {
		var orbit uint8
		var fix []Perm
		for _, s := range stable {
			orbit |= 1 << s[a]
			if int(s[a]) == a {
				fix = append(fix, s)
			}
		}
		for rest := orbit &^ (1 << a); rest != 0; rest &= rest - 1 {
			out = append(out, Less{a, bits.TrailingZeros8(rest)})
		}
		stable = fix
	}
	return out
}
