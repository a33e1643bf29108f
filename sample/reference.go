package sample

// run runs a traced function for the draws base+j, j in lanes, and stores the results in out[j].
type run func(f *frame, base int, lanes []int32, out []int64)

// reference is the simplest run: draw by draw, instruction by instruction. Tests compare all other
// implementations with it.
func reference(f *frame, base int, lanes []int32, out []int64) {
	values := make([]cell, len(f.c.list))
	for _, j := range lanes {
		f.interpret(values, base+int(j), 0, len(f.c.list), 0)
		out[j] = values[f.c.result].i
	}
}

// interpret runs instructions from to end-1 for one draw.
func (f *frame) interpret(values []cell, i, from, end, try int) {
	for n := from; n < end; n++ {
		x := &f.c.list[n]
		a, b, c := values[x.a], values[x.b], values[x.c]
		switch {
		case x.op == opLit:
			values[n] = cell{x.imm, x.real}
		case x.op == opBelow:
			values[n] = cell{i: -1}
			if a.i > 0 {
				values[n] = cell{i: int64(below(f.word(i, x.imm, try), int(a.i)))}
			}
		case x.op == opUniform:
			values[n] = cell{f: uniform(f.word(i, x.imm, try))}
		case x.op == opAlias:
			values[n] = cell{i: f.p.aliasPlace(a.i, f.word(i, x.imm, try), f.word(i, x.imm+1, try))}
		case x.op == opInverse:
			values[n] = cell{i: f.p.inversePlace(a.i, f.word(i, x.imm, try))}
		case x.op == opReject:
			body := int(x.imm)
			accept := &f.c.list[body]
			for try := 0; ; try++ {
				if try == maxTries {
					f.fail(x, "%d tries of a Reject, and none is accepted", maxTries)
					return
				}
				f.interpret(values, i, n+1, body, try)
				if values[accept.b].i != 0 {
					break
				}
			}
			values[n] = values[accept.a]
			n = body
		case x.op >= opStep && x.op < opBelow:
			values[n] = f.read(x, i, a, b)
		default:
			values[n] = pure(x.op, a, b, c)
		}
	}
}
