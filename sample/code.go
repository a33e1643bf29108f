package sample

// op is what an instruction of a traced function does.
type op uint8

// Operations on numbers; those on reals are realOps higher where both are there.
const (
	opLit op = iota
	opAdd
	opSub
	opMul
	opDiv
	opMax
	opMin
	opLess
	opEqual
	opIf // c, yes, no
	opToReal
	opAnd
	opOr
	opNot

	// of the sample
	opStep // number of the step, from 0
	opSlot // number of the draw in the sample's step
	opLen  // vertices of the sample before the step
	opPrev // imm: vertex imm steps before the transit on its path
	opAt   // the transit
	opRoot // a: root a of the sample
	opGet  // imm: number of the field; a: which of its elements
	opSet  // as opGet; b: the value

	// of the graph
	opDegree
	opNeighbour // a: vertex, b: place
	opWeight
	opMost   // largest weight of vertex a
	opBefore // weights of vertex a before place b
	opHas    // whether the row of vertex a has vertex b

	// of an edge, for Score and EdgeWeight
	opEdgeWeight
	opNorm
	opSource
	opTarget
	opProbability
	opDraws
	opTimes

	// draws: imm is the site
	opBelow
	opUniform
	opAlias   // a place of vertex a in proportion to weights, by two sites
	opInverse // the same by one site

	opReject // repeats the instructions up to number imm, where an opAccept stands; its value is that one's
	opAccept // a: value, b: whether it is taken

	realOps op = 64
)

// instruction makes the value of its own number from those of others.
type instruction struct {
	op      op
	a, b, c int32 // numbers of the instructions that make the arguments
	imm     int64
	real    float32
	at      string // file and line in the user's function
}

// code is a traced function: straight, but for the bodies of Reject.
type code struct {
	list   []instruction
	at     string // file and line where the user's function stands
	result int32
	sites  int // draws before a Reject
	pack   int // steps of a walk that share four random words
}

// line is where the user's function makes a value; of a literal, which has no line, where the function stands.
func (c *code) line(x *instruction) string {
	if x.at != "" {
		return x.at
	}
	return c.at
}

// cell is a value: i of whole numbers and conditions, f of reals.
type cell struct {
	i int64
	f float32
}

func truth(b bool) cell {
	if b {
		return cell{i: 1}
	}
	return cell{}
}

// pure computes an operation that reads nothing but its arguments.
func pure(o op, a, b, c cell) cell {
	switch o {
	case opAdd:
		return cell{i: a.i + b.i}
	case opSub:
		return cell{i: a.i - b.i}
	case opMul:
		return cell{i: a.i * b.i}
	case opDiv:
		if b.i == 0 {
			return cell{}
		}
		return cell{i: a.i / b.i}
	case opMax:
		return cell{i: max(a.i, b.i)}
	case opMin:
		return cell{i: min(a.i, b.i)}
	case opLess:
		return truth(a.i < b.i)
	case opEqual:
		return truth(a.i == b.i)
	case opToReal:
		return cell{f: float32(a.i)}
	case opAnd:
		return cell{i: a.i & b.i}
	case opOr:
		return cell{i: a.i | b.i}
	case opNot:
		return cell{i: 1 - a.i}
	case opIf, opIf + realOps:
		if a.i != 0 {
			return b
		}
		return c
	}
	return pureReal(o-realOps, a.f, b.f)
}

func pureReal(o op, a, b float32) cell {
	switch o {
	case opAdd:
		return cell{f: a + b}
	case opSub:
		return cell{f: a - b}
	case opMul:
		return cell{f: a * b}
	case opDiv:
		return cell{f: a / b}
	case opMax:
		return cell{f: max(a, b)}
	case opMin:
		return cell{f: min(a, b)}
	case opLess:
		return truth(a < b)
	}
	return truth(a == b)
}
