package cuda

import "sagann/kernel"

// Far ends of packed cells (chunk/pack.go). ID e has a fixed number of bits in a stream; it is read from two neighbouring
// words.
const packedSource = `
SAGA_INLINE unsigned saga_id(const unsigned *words, unsigned bit, unsigned bits) {
	const unsigned *w = words + (bit >> 5);
	return __funnelshift_r(w[0], w[1], bit) & ((1u << bits) - 1u);
}
SAGA_INLINE unsigned saga_far(const unsigned *stream, ll bits, ll e) {
	const unsigned long long at = (unsigned long long)e * (unsigned)bits;
	return saga_id(stream + (at >> 5), (unsigned)at & 31u, (unsigned)bits);
}
`

// farID is the expression for the far end of edge e.
func farID(p *kernel.Program, e string) string {
	if p.Packed {
		return "saga_far(other, bits, " + e + ")"
	}
	return "other[" + e + "]"
}

// farList is the code by which kernels for rows of few edges read IDs: begin stands before the rounds, id reads the ID of
// the edge %s places after the round's first, and next ends a round.
type farList struct{ begin, id, next string }

func listOf(p *kernel.Program) farList {
	if p.Packed {
		return farList{
			begin: "\tconst unsigned wide = (unsigned)bits;\n" +
				"\tconst unsigned long long bit = (unsigned long long)next * wide;\n" +
				"\tconst unsigned *list = other + (bit >> 5);\n" +
				"\tunsigned skip = (unsigned)bit & 31u;\n",
			id:   "saga_id(list, skip + (%s) * wide, wide)",
			next: "\t\tskip += R * wide, list += skip >> 5, skip &= 31u;\n"}
	}
	return farList{begin: "\tconst unsigned *list = other + next;\n", id: "list[%s]", next: "\t\tlist += R;\n"}
}
