package sample

// Node2vec gives random walks of second order (Grover and Leskovec, 2016). A walk that came from t
// to v goes on to x with a probability in proportion to the weight of the edge, times 1/p if x = t,
// 1 if x is another neighbour of t, and 1/q otherwise. x is a neighbour of t if a walk could step
// from t to x. The first step is in proportion to weights alone.
func Node2vec(length int, p, q float32) Sampler {
	return Sampler{Name: "node2vec", Steps: length, Next: func(s Sample, at Pool, r Rand) Int {
		if !(p > 0 && q > 0) || 1/p == 0 || 1/q == 0 {
			refuse("p is %v and q is %v: both are above 0", p, q)
		}
		most := max(1/p, 1, 1/q)
		t := s.Prev(1)
		return r.Reject(func(r Rand) (Int, Bool) {
			i := r.PickWeighted(at)
			x := at.Neighbour(i)
			share := If(Equal(x, t), Const(1/p), If(s.Has(t, x), Const(1), Const(1/q)))
			first := Or(Equal(t, None), Equal(i, None))
			return i, Or(first, Less(Mul(r.Uniform(), Const(most)), share))
		})
	}}
}
