package sample

// op is the operation of an instruction.
type op uint8

// Operations. Where one exists for whole numbers and for reals, that for reals is realOps higher.
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

	// reads of the sample
	opStep // number of the step, from 0
	opSlot // number of the draw in the sample's step
	opLen  // number of vertices of the sample before the step
	opPrev // imm: vertex imm steps before the transit on its path
	opAt   // the transit
	opRoot // a: root a of the sample
	opGet  // imm: number of the field; a: which of its elements
	opSet  // as opGet; b: the value

	// reads of the graph
	opDegree
	opNeighbour // a: vertex, b: place
	opWeight
	opMost   // largest weight in the row of vertex a
	opBefore // sum of the weights in the row of vertex a before place b
	opHas    // whether the row of vertex a has vertex b

	// reads of an edge, for Score and EdgeWeight
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
	opAlias   // a place in the row of vertex a in proportion to weights; uses two sites
	opInverse // the same; uses one site

	opReject // repeats the instructions after it up to number imm, an opAccept, and takes the value of that
	opAccept // a: value, b: whether the value is accepted

	opTime       // a: vertex, b: place
	opNumber     // as opTime; imm: the column
	opEdgeTime   // of an edge, for Score and EdgeWeight
	opEdgeNumber // as opEdgeTime; imm: the column

	realOps op = 64
)

// instruction computes one value. Its position in code.list is its number, by which others refer to it.
type instruction struct {
	op      op
	a, b, c int32   // numbers of the instructions that compute the arguments
	imm     int64   // of opLit: the whole number; of others: see op
	real    float32 // of opLit: the real number
	at      string  // file and line in the user's function
}

// code is a traced function: straight-line code, except for the bodies of Reject.
type code struct {
	list   []instruction
	at     string // file and line of the user's function
	result int32  // number of the instruction whose value the function returns
	sites  int    // number of sites, those in a Reject included
	pack   int    // steps of a walk that share one Philox counter (four random words)
}

// line is the file and line in the user's function that computes a value. A literal has none, so
// for a literal it is the line of the function.
func (c *code) line(x *instruction) string {
	if x.at != "" {
		return x.at
	}
	return c.at
}

// cell is a value: i for whole numbers and conditions, f for reals.
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

// pure computes an operation that reads only its arguments.
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
