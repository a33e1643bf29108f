package cuda

import (
	"fmt"

	"sagann/kernel"
)

// fetchHalf reads half leaf l from its row at ptr.
func (t *emitter) fetchHalf(l *kernel.Leaf, ptr string) {
	t.line("saga_load_half%s(%s, r%d);", t.args(l.Cols, false), t.place(ptr, l.Cols, " / 2"), l.Reg)
}

// keyedRow is where in the row at ptr the block of keyed leaf l begins.
func keyedRow(l *kernel.Leaf, ptr, key string) string {
	words := l.Cols
	if l.Half {
		words /= 2
	}
	return fmt.Sprintf("%s + %s * (size_t)%d", ptr, key, words)
}

// vector tells whether rows of ld floats are read and written a lane's columns at a time.
func (t *emitter) vector(ld int) bool { return t.v%4 == 0 && ld%t.v == 0 }
