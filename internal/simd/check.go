package simd

import "fmt"

// The checks below guard the assembly, which checks nothing. A failing one is a
// mistake of the calling code and panics, as an index out of range does.

// wholeRows returns n/cols and panics when cols does not divide n.
func wholeRows(fn string, n, cols int) int {
	if n%cols != 0 {
		panic(fmt.Sprintf("simd.%s: %d floats are not whole rows of %d", fn, n, cols))
	}
	return n / cols
}

// groupWidth returns f/h and panics when h does not divide f.
func groupWidth(fn string, h, f int) int {
	if h <= 0 || f%h != 0 {
		panic(fmt.Sprintf("simd.%s: %d columns do not divide %d", fn, h, f))
	}
	return f / h
}

// checkMatrix panics unless n floats hold a rows×cols matrix with leading
// dimension ld.
func checkMatrix(fn, name string, n, rows, cols, ld int) {
	if rows < 0 || cols < 0 || ld < cols {
		panic(fmt.Sprintf("simd.%s: %s is %d×%d with leading dimension %d", fn, name, rows, cols, ld))
	}
	if rows > 0 && cols > 0 && n < (rows-1)*ld+cols {
		panic(fmt.Sprintf("simd.%s: %s has %d floats, needs %d×%d with leading dimension %d",
			fn, name, n, rows, cols, ld))
	}
}
