package sample

// Int is a whole number in a sampler's function: a vertex, a place in a row, a count. It
// has 64 bits.
type Int struct{ symbol }

// Real is a float32 in a sampler's function. Every operation rounds, none is joined
// with another, so that all devices give the same bits.
type Real struct{ symbol }

// Bool is a condition in a sampler's function.
type Bool struct{ symbol }

// symbol is a value of a trace, or a literal while t is nil.
type symbol struct {
	t    *tracer
	set  bool  // of a literal: it is none of Go's zero values
	n    int32 // instruction that makes it
	lit  int64
	real float32
}

// number is what the arithmetic takes.
type number interface{ Int | Real }

// value is what If takes.
type value interface{ Int | Real | Bool }

// None is the vertex that is not there, and the place of no edge: a Next that returns it
// adds nothing.
var None = Whole(-1)

// Whole is a literal.
func Whole(n int) Int { return Int{symbol{set: true, lit: int64(n)}} }

// Const is a literal.
func Const(x float32) Real { return Real{symbol{set: true, real: x}} }

// ToReal is a whole number as the nearest float32.
func ToReal(a Int) Real { return Real{apply(opToReal, a.symbol)} }

// Add is a + b.
func Add[T number](a, b T) T { return arithmetic(opAdd, a, b) }

// Sub is a - b.
func Sub[T number](a, b T) T { return arithmetic(opSub, a, b) }

// Mul is a · b.
func Mul[T number](a, b T) T { return arithmetic(opMul, a, b) }

// Div is a / b; of whole numbers the part before the point, and 0 where b is 0.
func Div[T number](a, b T) T { return arithmetic(opDiv, a, b) }

// Max is the greater of a and b.
func Max[T number](a, b T) T { return arithmetic(opMax, a, b) }

// Min is the smaller of a and b.
func Min[T number](a, b T) T { return arithmetic(opMin, a, b) }

// Less tells whether a < b.
func Less[T number](a, b T) Bool {
	x, y, real := both(a, b)
	return Bool{apply(pick(real, opLess), x, y)}
}

// Equal tells whether a = b.
func Equal[T number](a, b T) Bool {
	x, y, real := both(a, b)
	return Bool{apply(pick(real, opEqual), x, y)}
}

// And tells whether both hold.
func And(a, b Bool) Bool { return Bool{apply(opAnd, a.symbol, b.symbol)} }

// Or tells whether one of them holds.
func Or(a, b Bool) Bool { return Bool{apply(opOr, a.symbol, b.symbol)} }

// Not tells whether a does not hold.
func Not(a Bool) Bool { return Bool{apply(opNot, a.symbol)} }

// If is yes where c holds and no elsewhere. Both are computed.
func If[T value](c Bool, yes, no T) T {
	switch y := any(yes).(type) {
	case Int:
		return any(Int{apply(opIf, c.symbol, y.symbol, any(no).(Int).symbol)}).(T)
	case Real:
		return any(Real{apply(opIf+realOps, c.symbol, y.symbol, any(no).(Real).symbol)}).(T)
	}
	return any(Bool{apply(opIf, c.symbol, any(yes).(Bool).symbol, any(no).(Bool).symbol)}).(T)
}

// both are the symbols of two numbers, and whether they are real.
func both[T number](a, b T) (x, y symbol, real bool) {
	if i, ok := any(a).(Int); ok {
		return i.symbol, any(b).(Int).symbol, false
	}
	return any(a).(Real).symbol, any(b).(Real).symbol, true
}

func pick(real bool, o op) op {
	if real {
		return o + realOps
	}
	return o
}

func arithmetic[T number](o op, a, b T) T {
	x, y, real := both(a, b)
	if real {
		return any(Real{apply(o+realOps, x, y)}).(T)
	}
	return any(Int{apply(o, x, y)}).(T)
}

// apply adds an instruction to the trace of its arguments; of literals it is a literal.
func apply(o op, args ...symbol) symbol {
	var t *tracer
	for _, a := range args {
		if a.t != nil {
			t = a.t
		}
	}
	if t == nil {
		var v [3]cell
		set := true
		for i, a := range args {
			v[i], set = cell{a.lit, a.real}, set && a.set
		}
		r := pure(o, v[0], v[1], v[2])
		return symbol{set: set, lit: r.i, real: r.f}
	}
	return t.emit(o, 0, args...)
}
