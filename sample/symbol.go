package sample

// Int is a symbol for a 64-bit whole number in a sampler's function: a vertex, a place in a
// row, a count.
type Int struct{ symbol }

// Real is a symbol for a float32 in a sampler's function. Every operation is rounded on its own,
// without fused multiply-add, so that all devices give the same bits.
type Real struct{ symbol }

// Bool is a symbol for a condition in a sampler's function.
type Bool struct{ symbol }

// symbol is a value of a trace, or a literal if t is nil.
type symbol struct {
	t    *tracer
	set  bool  // true in a literal; false in Go's zero value, which nothing has set
	n    int32 // instruction that makes it
	lit  int64
	real float32
}

// number lists the types that arithmetic takes.
type number interface{ Int | Real }

// value lists the types that If takes.
type value interface{ Int | Real | Bool }

// None stands for "no vertex" and "no edge". A Next that returns it adds nothing.
var None = Whole(-1)

// Whole is an Int literal.
func Whole(n int) Int { return Int{symbol{set: true, lit: int64(n)}} }

// Const is a Real literal.
func Const(x float32) Real { return Real{symbol{set: true, real: x}} }

// ToReal converts a whole number to the nearest float32.
func ToReal(a Int) Real { return Real{apply(opToReal, a.symbol)} }

// Add is a + b.
func Add[T number](a, b T) T { return arithmetic(opAdd, a, b) }

// Sub is a - b.
func Sub[T number](a, b T) T { return arithmetic(opSub, a, b) }

// Mul is a · b.
func Mul[T number](a, b T) T { return arithmetic(opMul, a, b) }

// Div is a / b. For whole numbers it rounds towards 0, and is 0 if b is 0.
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

// And tells whether a and b both hold.
func And(a, b Bool) Bool { return Bool{apply(opAnd, a.symbol, b.symbol)} }

// Or tells whether a, b or both hold.
func Or(a, b Bool) Bool { return Bool{apply(opOr, a.symbol, b.symbol)} }

// Not tells whether a does not hold.
func Not(a Bool) Bool { return Bool{apply(opNot, a.symbol)} }

// If is yes if c holds, else no. Both are computed.
func If[T value](c Bool, yes, no T) T {
	switch y := any(yes).(type) {
	case Int:
		return any(Int{apply(opIf, c.symbol, y.symbol, any(no).(Int).symbol)}).(T)
	case Real:
		return any(Real{apply(opIf+realOps, c.symbol, y.symbol, any(no).(Real).symbol)}).(T)
	}
	return any(Bool{apply(opIf, c.symbol, any(yes).(Bool).symbol, any(no).(Bool).symbol)}).(T)
}

// both returns the symbols of two numbers, and whether they are Reals.
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

// apply adds an instruction to the trace of its arguments. If all are literals, it computes
// the result, a literal, at once.
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
