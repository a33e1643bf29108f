package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gatherFour keeps six numbers of some vectors of columns in registers while it reads the rows, and prefetches the tile of the
// row that is ahead edges later. Ranks ascend, so that of equal maxima the one that is held stays. A NaN makes the sum NaN:
// where no sum is, no number of the rows was, and the maxima need one comparison each. Else the first of the vectors, which are not
// stored yet, is computed again with care.
func gatherFour(e *emitter) {
	e.begin("gatherFour", fourParams)
	f := four{emitter: e, cols: e.num("cols"), off: e.GP64(), src: e.ptr("src"), ld: e.num("ld"),
		idx: e.GP64(), rank: e.GP64(), rows: e.GP64(), row: e.GP64(), least: e.GP64()}
	e.XORQ(f.off, f.off)
	e.SHLQ(operand.U8(2), f.ld)
	e.Load(e.Param("idx").Len(), f.least) // rows left from which on no index is ahead of the row: length + ahead - capacity
	e.ADDQ(imm(ahead), f.least)
	e.Load(e.Param("idx").Cap(), f.row)
	e.SUBQ(f.row, f.least)
	together := 2
	if e.wide {
		together = 4
	}
	e.constBits("sign", 1<<31)
	care, over, next := e.label("care"), e.label("over"), e.label("tile")
	begin := next
	for _, vecs := range []int{together, 1} {
		e.Label(next)
		next = e.label("tile")
		e.CMPQ(f.cols, imm(vecs*e.width()))
		e.JL(operand.LabelRef(next))
		f.quick(vecs, nil, care)
		f.advance(vecs)
		e.JMP(operand.LabelRef(begin))
	}
	e.Label(next)
	e.TESTQ(f.cols, f.cols)
	e.JLE(operand.LabelRef(over))
	f.quick(1, f.rest(), care)
	e.JMP(operand.LabelRef(over))
	e.Label(care)
	f.careful(f.rest())
	f.advance(1)
	e.JMP(operand.LabelRef(begin))
	e.Label(over)
	e.end()
}

// rest is the lanes of the next vector.
func (f *four) rest() (mask reg.Register) {
	whole := f.GP64()
	f.MOVQ(imm(f.width()), whole)
	f.CMPQ(f.cols, whole)
	f.CMOVQLT(f.cols, whole)
	return f.lanes(whole)
}

// advance goes on by some vectors.
func (f *four) advance(vecs int) {
	for _, p := range []reg.GPVirtual{f.off, f.src} {
		f.ADDQ(imm(4*vecs*f.width()), p)
	}
	f.SUBQ(imm(vecs*f.width()), f.cols)
}

// quick computes a tile of some vectors, or finds a NaN and goes to care.
func (f *four) quick(vecs int, mask reg.Register, care string) {
	held := f.start(vecs, mask)
	for _, h := range held {
		f.turn(h)
	}
	f.each(vecs, func(rank reg.VecVirtual) {
		for v, h := range held {
			y := loadLanes(f.emitter, f.at(v), mask)
			f.VADDPS(y, h[0], h[0])
			f.set(h[3], f.cmp(cmpGT, y, h[2]), rank)
			f.VMAXPS(h[2], y, h[2])
			f.set(h[5], f.cmp(cmpLT, y, h[4]), rank)
			f.VMINPS(h[4], y, h[4])
			f.VMULPS(y, y, y)
			f.VADDPS(y, h[1], h[1])
		}
	})
	none := f.cmp(cmpNaN, held[0][0], held[0][0])
	for _, h := range held[1:] {
		none = f.either(none, f.cmp(cmpNaN, h[0], h[0]))
	}
	if f.wide {
		f.KORTESTW(none, none)
	} else {
		f.VMOVMSKPS(none, f.row.As32())
		f.TESTL(f.row.As32(), f.row.As32())
	}
	f.JNE(operand.LabelRef(care))
	for _, h := range held {
		f.turn(h)
	}
	f.store(held, mask)
}

// sixSlices are the results: three words each.
const (
	sixSlices  = 6
	fourParams = "to *[6][]float32, cols int, src []float32, ld int, idx []uint32, rank []float32, more, stream bool"
)

// four has the registers of gatherFour.
type four struct {
	*emitter
	cols, off      reg.GPVirtual // columns left, bytes of a result before them
	src, ld        reg.GPVirtual // the tile of row 0; bytes of a row
	idx, rank, row reg.GPVirtual // places of an index and of its rank; bytes before its row
	rows, least    reg.GPVirtual // rows left; more of them than least: there is an index to prefetch
}

// at is vector v of the row.
func (f *four) at(v int) operand.Mem {
	return operand.Mem{Base: f.src, Index: f.row, Scale: 1, Disp: 4 * f.width() * v}
}

// first sets idx, rank and row to those of the first row.
func (f *four) first() {
	f.Load(f.Param("idx").Base(), f.idx)
	f.Load(f.Param("rank").Base(), f.rank)
	f.next()
}

// wanted runs body with row set to where result i of the tile is, where that result is wanted, and otherwise, which may be nil.
func (f *four) wanted(i int, body, otherwise func()) {
	missing, done := f.label("missing"), f.label("wanted")
	f.Load(f.Param("to"), f.row)
	f.MOVQ(at(f.row, 24*i), f.row)
	f.TESTQ(f.row, f.row)
	f.JE(operand.LabelRef(missing))
	f.ADDQ(f.off, f.row)
	body()
	if otherwise == nil {
		f.Label(missing)
		return
	}
	f.JMP(operand.LabelRef(done))
	f.Label(missing)
	otherwise()
	f.Label(done)
}

// next sets row to that of the index.
func (f *four) next() {
	f.MOVL(at(f.idx, 0), f.row.As32())
	f.IMULQ(f.ld, f.row)
}

// start begins the vectors of a tile: with what is held, or with sums of nothing and the first row as both maxima. Results that
// are written past the caches are not prefetched.
func (f *four) start(vecs int, mask reg.Register) [][]reg.VecVirtual {
	held := make([][]reg.VecVirtual, vecs)
	for v := range held {
		for range sixSlices {
			held[v] = append(held[v], f.vec())
		}
	}
	more, started := f.label("more"), f.label("started")
	f.CMPB(f.paramMem("more"), operand.U8(0))
	f.JNE(operand.LabelRef(more))
	streams := f.label("streams")
	f.CMPB(f.paramMem("stream"), operand.U8(0))
	f.JNE(operand.LabelRef(streams))
	f.fetchResults(vecs)
	f.Label(streams)
	f.first()
	for v, h := range held {
		for _, sum := range h[:2] {
			f.VXORPS(sum, sum, sum)
		}
		f.VMOVAPS(loadLanes(f.emitter, f.at(v), mask), h[2])
		f.VXORPS(f.k("sign"), h[2], h[4])
		f.VBROADCASTSS(at(f.rank, 0), h[3])
		f.VMOVAPS(h[3], h[5])
	}
	f.JMP(operand.LabelRef(started))
	f.Label(more)
	for i := range sixSlices {
		f.wanted(i, func() {
			for v, h := range held {
				f.VMOVAPS(loadLanes(f.emitter, at(f.row, 4*f.width()*v), mask), h[i])
			}
		}, func() {
			for _, h := range held {
				f.VXORPS(h[i], h[i], h[i])
			}
		})
	}
	f.Label(started)
	return held
}

// fetchResults prefetches the numbers of a tile, which are stored when the rows have been read.
func (f *four) fetchResults(vecs int) {
	for i := range sixSlices {
		f.wanted(i, func() {
			for off := 0; off < vecs*4*f.width(); off += 64 {
				f.PREFETCHT0(at(f.row, off))
			}
		}, nil)
	}
}

// store ends the vectors of a tile.
func (f *four) store(held [][]reg.VecVirtual, mask reg.Register) {
	for i := range sixSlices {
		f.wanted(i, func() {
			if mask != nil {
				for v, h := range held {
					f.storeMasked(h[i], mask, at(f.row, 4*f.width()*v))
				}
				return
			}
			stream, stored := f.label("stream"), f.label("stored")
			f.CMPB(f.paramMem("stream"), operand.U8(0))
			f.JNE(operand.LabelRef(stream))
			for v, h := range held {
				f.VMOVUPS(h[i], at(f.row, 4*f.width()*v))
			}
			f.JMP(operand.LabelRef(stored))
			f.Label(stream)
			for v, h := range held {
				f.VMOVNTPS(h[i], at(f.row, 4*f.width()*v))
			}
			f.Label(stored)
		}, nil)
	}
}

// turn makes the maximum of negated rows the minimum of rows, and back.
func (f *four) turn(held []reg.VecVirtual) { f.VXORPS(f.k("sign"), held[4], held[4]) }

// each runs body for each row, and prefetches so many vectors of rows to come.
func (f *four) each(fetch int, body func(rank reg.VecVirtual)) {
	f.first()
	f.Load(f.Param("rank").Len(), f.rows)
	loop, there := f.label("row"), f.label("there")
	f.Label(loop)
	if fetch > 0 {
		f.CMPQ(f.rows, f.least)
		f.JLE(operand.LabelRef(there))
		f.MOVL(at(f.idx, 4*ahead), f.row.As32())
		f.IMULQ(f.ld, f.row)
		for off := 0; off < fetch*4*f.width(); off += 64 {
			f.PREFETCHT0(operand.Mem{Base: f.src, Index: f.row, Scale: 1, Disp: off})
		}
		f.Label(there)
	}
	f.next()
	rank := f.vec()
	f.VBROADCASTSS(at(f.rank, 0), rank)
	body(rank)
	f.ADDQ(imm(4), f.idx)
	f.ADDQ(imm(4), f.rank)
	f.DECQ(f.rows)
	f.JNE(operand.LabelRef(loop))
}

// careful computes a vector where rows may have NaN.
func (f *four) careful(mask reg.Register) {
	held := f.start(1, mask)
	h := held[0]
	f.each(0, func(rank reg.VecVirtual) {
		y := loadLanes(f.emitter, f.at(0), mask)
		f.VADDPS(y, h[0], h[0])
		f.VADDPS(f.mul(y, y), h[1], h[1])
		for i := 2; i < 6; i += 2 {
			if i == 4 {
				f.VXORPS(f.k("sign"), y, y)
			}
			above := f.both(f.cmp(cmpNotLE, y, h[i]), f.cmp(cmpOrdered, h[i], h[i]))
			f.set(h[i], above, y)
			f.set(h[i+1], above, rank)
		}
	})
	f.store(held, mask)
}
