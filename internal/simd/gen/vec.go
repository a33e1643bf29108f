package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of VCMPPS. They are quiet, and false if an operand is NaN, except notEQ, notGE and notLE, which are
// then true. NaN is true only if an operand is NaN, and ordered is its opposite.
const (
	cmpEQ    = operand.U8(0x00)
	cmpLT    = operand.U8(0x11)
	cmpLE    = operand.U8(0x12)
	cmpGT    = operand.U8(0x1e)
	cmpNotEQ = operand.U8(0x04)
	cmpNotGE = operand.U8(0x19)
	cmpNotLE = operand.U8(0x16)
	cmpNaN   = operand.U8(0x03)

	cmpOrdered = operand.U8(0x07)
)

// emitter writes one kernel for one vector width. Its methods take operands in
// the order of the formula; avo's instructions take them reversed.
type emitter struct {
	*build.Context
	wide   bool                  // AVX-512, else AVX2
	spill  bool                  // too many constants for the registers of AVX-512
	consts map[string]operand.Op // per kernel
	pool   map[uint32]operand.Mem
	labels int
}

// width is the number of floats of a vector.
func (e *emitter) width() int {
	if e.wide {
		return 16
	}
	return 8
}

// suffix ends the name of a kernel.
func (e *emitter) suffix() string {
	if e.wide {
		return "AVX512"
	}
	return "AVX2"
}

// label returns a label that is new in this file.
func (e *emitter) label(name string) string {
	e.labels++
	return fmt.Sprintf("%s%d", name, e.labels)
}

// begin opens the kernel called name, with the parameters params.
func (e *emitter) begin(name, params string) {
	e.Function(name + e.suffix())
	e.Attributes(attr.NOSPLIT)
	e.Pragma("noescape")
	e.SignatureExpr("func(" + params + ")")
	e.consts = map[string]operand.Op{}
}

// end closes the kernel.
func (e *emitter) end() {
	e.VZEROUPPER()
	e.RET()
}

// vec returns a new vector register.
func (e *emitter) vec() reg.VecVirtual {
	if e.wide {
		return e.ZMM()
	}
	return e.YMM()
}

// paramMem returns the place of a parameter on the stack.
func (e *emitter) paramMem(name string) operand.Mem {
	b, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// ptr, length and num load a slice's base, its length and an integer.
func (e *emitter) ptr(name string) reg.GPVirtual { return e.gp(e.Load(e.Param(name).Base(), e.GP64())) }
func (e *emitter) length(name string) reg.GPVirtual {
	return e.gp(e.Load(e.Param(name).Len(), e.GP64()))
}
func (e *emitter) num(name string) reg.GPVirtual   { return e.gp(e.Load(e.Param(name), e.GP64())) }
func (e *emitter) gp(r reg.Register) reg.GPVirtual { return r.(reg.GPVirtual) }

// bits returns a read-only vector with the same 32 bits in every lane.
func (e *emitter) bits(b uint32) operand.Mem {
	if m, ok := e.pool[b]; ok {
		return m
	}
	m := e.StaticGlobal(fmt.Sprintf("k%08x", b))
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		e.AddDatum(4*i, operand.U32(b))
	}
	e.pool[b] = m
	return m
}

// constant defines a constant of the kernel. AVX-512 has enough registers to keep
// all constants there; AVX2 reads them from memory.
func (e *emitter) constant(name string, v float64) { e.constBits(name, math.Float32bits(float32(v))) }

func (e *emitter) constBits(name string, b uint32) {
	if _, ok := e.consts[name]; ok {
		return
	}
	m := e.bits(b)
	if !e.wide || e.spill {
		e.consts[name] = m
		return
	}
	r := e.vec()
	e.VBROADCASTSS(m, r)
	e.consts[name] = r
}

// k returns a constant, as a register or a memory operand.
func (e *emitter) k(name string) operand.Op {
	op, ok := e.consts[name]
	if !ok {
		panic("no constant " + name)
	}
	return op
}

// kreg returns a copy of a constant in a register.
func (e *emitter) kreg(name string) reg.VecVirtual { return e.copyOf(e.k(name)) }

func (e *emitter) copyOf(x operand.Op) reg.VecVirtual {
	r := e.vec()
	e.VMOVUPS(x, r)
	return r
}

// The second operand of these may be a memory operand.
func (e *emitter) add(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VADDPS(y, x, r); return r }
func (e *emitter) sub(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VSUBPS(y, x, r); return r }
func (e *emitter) mul(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VMULPS(y, x, r); return r }
func (e *emitter) div(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VDIVPS(y, x, r); return r }
func (e *emitter) and(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VANDPS(y, x, r); return r }
func (e *emitter) or(x, y operand.Op) reg.VecVirtual  { r := e.vec(); e.VORPS(y, x, r); return r }
func (e *emitter) xor(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VXORPS(y, x, r); return r }

// max returns x where x > y, else y, also where one is NaN; min likewise.
func (e *emitter) max(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VMAXPS(y, x, r); return r }
func (e *emitter) min(x, y operand.Op) reg.VecVirtual { r := e.vec(); e.VMINPS(y, x, r); return r }

// maxNaN returns the larger of x and y, NaN where one is; minNaN likewise. They may write
// over x. VMAXPS gives y where one is NaN, so only a NaN of x must be kept.
func (e *emitter) maxNaN(x, y reg.VecVirtual) reg.VecVirtual {
	if e.wide {
		e.VMAXPS(y, x, e.cmp(cmpOrdered, x, x), x)
		return x
	}
	return e.or(e.max(x, y), e.cmp(cmpNaN, x, x)) // all bits set are a NaN
}

func (e *emitter) minNaN(x, y reg.VecVirtual) reg.VecVirtual {
	if e.wide {
		e.VMINPS(y, x, e.cmp(cmpOrdered, x, x), x)
		return x
	}
	return e.or(e.min(x, y), e.cmp(cmpNaN, x, x))
}

// zero returns a register of zeros.
func (e *emitter) zero() reg.VecVirtual {
	r := e.vec()
	if e.wide {
		e.VPXORD(r, r, r)
	} else {
		e.VXORPS(r, r, r)
	}
	return r
}

// mulAdd sets x = x*y + z, fma sets z += x*y, fnma sets z -= x*y; z of the
// first and x of the others may be memory operands.
func (e *emitter) mulAdd(x reg.VecVirtual, y, z operand.Op) { e.VFMADD213PS(z, y, x) }
func (e *emitter) fma(z reg.VecVirtual, x, y operand.Op)    { e.VFMADD231PS(x, y, z) }
func (e *emitter) fnma(z reg.VecVirtual, x, y operand.Op)   { e.VFNMADD231PS(x, y, z) }

// cmp returns the lanes where x pred y, as a mask of the vector width's kind.
func (e *emitter) cmp(pred operand.U8, x, y operand.Op) reg.Register {
	if e.wide {
		k := e.K()
		e.VCMPPS(pred, y, x, k)
		return k
	}
	r := e.vec()
	e.VCMPPS(pred, y, x, r)
	return r
}

// both and either join two masks.
func (e *emitter) both(x, y reg.Register) reg.Register {
	if !e.wide {
		return e.and(x, y)
	}
	k := e.K()
	e.KANDW(y, x, k)
	return k
}

func (e *emitter) either(x, y reg.Register) reg.Register {
	if !e.wide {
		return e.or(x, y)
	}
	k := e.K()
	e.KORW(y, x, k)
	return k
}

// set sets the lanes of x that the mask names to those of y.
func (e *emitter) set(x reg.VecVirtual, mask reg.Register, y reg.VecVirtual) {
	if e.wide {
		e.VMOVAPS(y, mask, x)
	} else {
		e.VBLENDVPS(mask, y, x, x)
	}
}

// sel returns t where the mask is set, else f. t may be a memory operand.
func (e *emitter) sel(mask reg.Register, t, f operand.Op) reg.VecVirtual {
	r := e.vec()
	if e.wide {
		e.VBLENDMPS(t, f, mask, r)
	} else {
		e.VBLENDVPS(mask, t, f, r)
	}
	return r
}

// selz returns t where the mask is set, else 0. t may be a memory operand.
func (e *emitter) selz(mask reg.Register, t operand.Op) reg.VecVirtual {
	r := e.vec()
	if e.wide {
		e.VMOVUPS_Z(t, mask, r)
	} else {
		e.VANDPS(t, mask, r)
	}
	return r
}

// horner returns the polynomial with the constants p0..p<degree> at x.
func (e *emitter) horner(p string, degree int, x operand.Op) reg.VecVirtual {
	r := e.kreg(fmt.Sprint(p, degree))
	for i := degree - 1; i >= 0; i-- {
		e.mulAdd(r, x, e.k(fmt.Sprint(p, i)))
	}
	return r
}

// poly names the coefficients of a polynomial for horner.
func (e *emitter) poly(p string, coef []float64) {
	for i, c := range coef {
		e.constant(fmt.Sprint(p, i), c)
	}
}
