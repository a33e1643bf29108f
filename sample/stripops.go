package sample

// intOp runs an operation on whole numbers and conditions over lanes.
func intOp(r *registers, x *instruction, lanes []int32, n int) {
	a, b := r.ints[x.a], r.ints[x.b]
	if x.op == opToReal {
		to := r.reals[n]
		for _, j := range lanes {
			to[j] = float32(a[j])
		}
		return
	}
	to := r.ints[n]
	switch x.op {
	case opAdd:
		for _, j := range lanes {
			to[j] = a[j] + b[j]
		}
	case opSub:
		for _, j := range lanes {
			to[j] = a[j] - b[j]
		}
	case opMul:
		for _, j := range lanes {
			to[j] = a[j] * b[j]
		}
	case opAnd:
		for _, j := range lanes {
			to[j] = a[j] & b[j]
		}
	case opOr:
		for _, j := range lanes {
			to[j] = a[j] | b[j]
		}
	case opIf:
		c := r.ints[x.c]
		for _, j := range lanes {
			to[j] = c[j]
			if a[j] != 0 {
				to[j] = b[j]
			}
		}
	case opLess:
		for _, j := range lanes {
			to[j] = truth(a[j] < b[j]).i
		}
	case opEqual:
		for _, j := range lanes {
			to[j] = truth(a[j] == b[j]).i
		}
	case opNot:
		for _, j := range lanes {
			to[j] = 1 - a[j]
		}
	default:
		for _, j := range lanes {
			to[j] = pure(x.op, cell{i: a[j]}, cell{i: b[j]}, cell{}).i
		}
	}
}

// realOp runs an operation on reals over lanes.
func realOp(r *registers, x *instruction, lanes []int32, n int) {
	if x.op == opIf+realOps {
		c, yes, no, to := r.ints[x.a], r.reals[x.b], r.reals[x.c], r.reals[n]
		for _, j := range lanes {
			to[j] = no[j]
			if c[j] != 0 {
				to[j] = yes[j]
			}
		}
		return
	}
	a, b := r.reals[x.a], r.reals[x.b]
	switch x.op {
	case opMul + realOps:
		to := r.reals[n]
		for _, j := range lanes {
			to[j] = a[j] * b[j]
		}
	case opLess + realOps:
		to := r.ints[n]
		for _, j := range lanes {
			to[j] = truth(a[j] < b[j]).i
		}
	default:
		for _, j := range lanes {
			got := pureReal(x.op-realOps, a[j], b[j])
			if isReal(x.op) {
				r.reals[n][j] = got.f
			} else {
				r.ints[n][j] = got.i
			}
		}
	}
}
