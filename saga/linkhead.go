package saga

import (
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/ops"
)

// LinkHead scores a pair (u, v) of vertices by their rows z of the last layer, [V×c]. A score is
// the logarithm of the odds that there is an edge. Parameters have the scope "head".
type LinkHead string

// The heads.
const (
	LinkDot      LinkHead = "dot"      // ⟨z_u, z_v⟩
	LinkBilinear LinkHead = "bilinear" // ⟨z_u·B, z_v⟩ with B [c×c]
	LinkDistMult LinkHead = "distmult" // ⟨z_u ⊙ r, z_v⟩ with r [1×c], or of links of several types [types×c], the row of the pair's
	LinkMLP      LinkHead = "mlp"      // relu((z_u ⊙ z_v)·W1 + b1)·W2 + b2 with W1 [c×c], b1 [1×c], W2 [c×1], b2 [1×1]
)

// LinkHeads lists all heads.
func LinkHeads() []LinkHead { return []LinkHead{LinkDot, LinkBilinear, LinkDistMult, LinkMLP} }

// headParam is a parameter of a head, for rows of c columns.
type headParam struct {
	name       string
	rows, cols int
	init       Init
}

// params lists the parameters of the head for rows of c columns. types is how many types links have; 0: none.
func (h LinkHead) params(c, types int) []headParam {
	switch h {
	case LinkBilinear:
		return []headParam{{"B", c, c, Glorot}}
	case LinkDistMult:
		return []headParam{{"r", max(1, types), c, One}}
	case LinkMLP:
		return []headParam{{"W1", c, c, Glorot}, {"b1", 1, c, Zero}, {"W2", c, 1, Glorot}, {"b2", 1, 1, Zero}}
	}
	return nil
}

// scores are the scores [E×1] of edges whose ends have rows src and dst [E×c], with parameters w.
func (h LinkHead) scores(src, dst Tensor, w []Tensor) Tensor {
	switch h {
	case LinkBilinear:
		return ops.RowDot(ops.MatMul(src, w[0]), dst)
	case LinkDistMult:
		return ops.MatMulNT(ops.Mul(src, dst), w[0])
	case LinkMLP:
		return ops.Bias(ops.MatMul(ops.ReLU(ops.Bias(ops.MatMul(ops.Mul(src, dst), w[0]), w[1])), w[2]), w[3])
	}
	return ops.RowDot(src, dst)
}

// scorer computes a head on the host. z is V rows of c columns, w the parameters in the order of params.
type scorer struct {
	head LinkHead
	c    int
	z    []float32
	w    [][]float32
}

func (s *scorer) row(v uint32) []float32 { return s.z[int(v)*s.c:][:s.c] }

// work is memory for one pair at a time.
type work struct {
	hidden []float64   // LinkMLP: the hidden layer after ReLU
	du, dv []float64   // gradients with respect to the two rows
	dw     [][]float64 // gradients with respect to the parameters, summed over pairs
}

func (s *scorer) work() *work {
	k := &work{hidden: make([]float64, s.c), du: make([]float64, s.c), dv: make([]float64, s.c)}
	for _, w := range s.w {
		k.dw = append(k.dw, make([]float64, len(w)))
	}
	return k
}

// typeOf is the type of pair i, 0 without.
func typeOf(p *dataset.Pairs, i int) uint32 {
	if p.Type == nil {
		return 0
	}
	return p.Type[i]
}

// score is the score of a pair of a type.
func (s *scorer) score(u, v, typ uint32, k *work) float64 {
	x, y, sum := s.row(u), s.row(v), 0.0
	switch s.head {
	case LinkBilinear:
		for i, a := range x {
			part := 0.0
			for j, b := range s.w[0][i*s.c:][:s.c] {
				part += float64(b) * float64(y[j])
			}
			sum += float64(a) * part
		}
	case LinkDistMult:
		for i, b := range s.w[0][int(typ)*s.c:][:s.c] {
			sum += float64(x[i]) * float64(b) * float64(y[i])
		}
	case LinkMLP:
		for j, b := range s.w[1] {
			k.hidden[j] = float64(b)
		}
		for i, a := range x {
			p := float64(a) * float64(y[i])
			for j, w := range s.w[0][i*s.c:][:s.c] {
				k.hidden[j] += p * float64(w)
			}
		}
		sum = float64(s.w[3][0])
		for j, h := range k.hidden {
			k.hidden[j] = max(h, 0)
			sum += k.hidden[j] * float64(s.w[2][j])
		}
	default:
		for i, a := range x {
			sum += float64(a) * float64(y[i])
		}
	}
	return sum
}

// pull sets k.du and k.dv to the gradients of d times the score of the pair. With params it also adds
// the gradients with respect to the parameters to k.dw. For LinkMLP, k must hold the hidden layer of
// the pair, which score sets.
func (s *scorer) pull(u, v, typ uint32, d float64, k *work, params bool) {
	x, y := s.row(u), s.row(v)
	switch s.head {
	case LinkBilinear:
		clear(k.dv)
		for i, a := range x {
			row, sum := s.w[0][i*s.c:][:s.c], 0.0
			for j, b := range row {
				sum += float64(b) * float64(y[j])
				k.dv[j] += d * float64(a) * float64(b)
				if params {
					k.dw[0][i*s.c+j] += d * float64(a) * float64(y[j])
				}
			}
			k.du[i] = d * sum
		}
	case LinkDistMult:
		at := int(typ) * s.c
		for i, a := range x {
			r := float64(s.w[0][at+i])
			k.du[i], k.dv[i] = d*r*float64(y[i]), d*r*float64(a)
			if params {
				k.dw[0][at+i] += d * float64(a) * float64(y[i])
			}
		}
	case LinkMLP:
		for i, a := range x {
			p, sum := float64(a)*float64(y[i]), 0.0
			for j, w := range s.w[0][i*s.c:][:s.c] {
				if k.hidden[j] > 0 {
					g := d * float64(s.w[2][j])
					sum += g * float64(w)
					if params {
						k.dw[0][i*s.c+j] += g * p
					}
				}
			}
			k.du[i], k.dv[i] = sum*float64(y[i]), sum*float64(a)
		}
		if params {
			for j, h := range k.hidden {
				k.dw[2][j] += d * h
				if h > 0 {
					k.dw[1][j] += d * float64(s.w[2][j])
				}
			}
			k.dw[3][0] += d
		}
	default:
		for i, a := range x {
			k.du[i], k.dv[i] = d*float64(y[i]), d*float64(a)
		}
	}
}

// scores are the scores of all pairs.
func (s *scorer) scores(p *dataset.Pairs) []float64 {
	out := make([]float64, p.Len())
	chunk.Ranges(len(out), func(lo, hi int) {
		k := s.work()
		for i := lo; i < hi; i++ {
			out[i] = s.score(p.Src[i], p.Dst[i], typeOf(p, i), k)
		}
	})
	return out
}

// headBlocks is the number of ranges of pairs over which gradients of parameters are summed separately. It
// is constant, so that sums do not depend on the number of processors.
const headBlocks = 64

// gradients is the mean binary cross-entropy of pairs, of which the first so many are edges, and its
// gradients with respect to z [V×c] and to the parameters. Sums are in float64 and always in the same order.
func (s *scorer) gradients(p *dataset.Pairs, edges int) (loss float64, dz []float32, dw [][]float32) {
	n := p.Len()
	scores := s.scores(p)
	by := make([]float64, n) // by pair: derivative of the loss with respect to its score
	for i, x := range scores {
		y := 0.0
		if i < edges {
			y = 1
		}
		loss += (max(x, 0) - x*y + math.Log1p(math.Exp(-math.Abs(x)))) / float64(n)
		by[i] = (1/(1+math.Exp(-x)) - y) / float64(n)
	}
	return loss, s.byRows(p, by), s.byParams(p, by)
}

// byRows sums, for each vertex, the gradients of the pairs that it is an end of.
func (s *scorer) byRows(p *dataset.Pairs, by []float64) []float32 {
	v, n := len(s.z)/s.c, p.Len()
	start := make([]int, v+1) // by vertex: where its part of ends begins; end k is the first of pair k, end n+k the second
	for k := range n {
		start[p.Src[k]+1]++
		start[p.Dst[k]+1]++
	}
	for i := range v {
		start[i+1] += start[i]
	}
	at, ends := slices.Clone(start), make([]int, 2*n)
	for k := range 2 * n {
		u := p.Src[k%n]
		if k >= n {
			u = p.Dst[k-n]
		}
		ends[at[u]] = k
		at[u]++
	}
	dz := make([]float32, len(s.z))
	chunk.Ranges(v, func(lo, hi int) {
		k, sum := s.work(), make([]float64, s.c)
		for u := lo; u < hi; u++ {
			clear(sum)
			for _, e := range ends[start[u]:start[u+1]] {
				s.addEnd(sum, p, e, by, k)
			}
			for i, x := range sum {
				dz[u*s.c+i] = float32(x)
			}
		}
	})
	return dz
}

// addEnd adds the gradient with respect to end e to sum; see byRows for the numbers of ends.
func (s *scorer) addEnd(sum []float64, p *dataset.Pairs, e int, by []float64, k *work) {
	i, first := e, e < p.Len()
	if !first {
		i -= p.Len()
	}
	if s.head == LinkMLP {
		s.score(p.Src[i], p.Dst[i], typeOf(p, i), k)
	}
	s.pull(p.Src[i], p.Dst[i], typeOf(p, i), by[i], k, false)
	d := k.dv
	if first {
		d = k.du
	}
	for c, x := range d {
		sum[c] += x
	}
}

func (s *scorer) byParams(p *dataset.Pairs, by []float64) (dw [][]float32) {
	if len(s.w) == 0 {
		return nil
	}
	parts := make([]*work, headBlocks)
	chunk.Each(headBlocks, func(b int) {
		k := s.work()
		for i := b * p.Len() / headBlocks; i < (b+1)*p.Len()/headBlocks; i++ {
			if s.head == LinkMLP {
				s.score(p.Src[i], p.Dst[i], typeOf(p, i), k)
			}
			s.pull(p.Src[i], p.Dst[i], typeOf(p, i), by[i], k, true)
		}
		parts[b] = k
	})
	for q, w := range s.w {
		out := make([]float32, len(w))
		for i := range out {
			sum := 0.0
			for _, k := range parts {
				sum += k.dw[q][i]
			}
			out[i] = float32(sum)
		}
		dw = append(dw, out)
	}
	return dw
}

// check refuses an unknown head.
func (h LinkHead) check() error {
	if slices.Contains(LinkHeads(), h) {
		return nil
	}
	return fmt.Errorf("saga: unknown link head %q; there are dot, bilinear, distmult, mlp", h)
}

// headOf is the head over rows z of cols columns.
func headOf(h LinkHead, z []float32, cols, types int, param parameters) (*scorer, error) {
	s := &scorer{head: h, c: cols, z: z}
	for _, q := range h.params(cols, types) {
		w, err := param("head."+q.name, q.rows, q.cols)
		if err != nil {
			return nil, err
		}
		s.w = append(s.w, w)
	}
	return s, nil
}
