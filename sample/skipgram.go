package sample

import (
	"errors"
	"fmt"
	"math"

	"sagann/internal/simd"
)

// SkipGram learns a vector for each vertex from walks by skip-gram with negative sampling (Mikolov,
// Sutskever, Chen, Corrado and Dean, 2013): a vertex gets a large inner product with vertices near it
// on a walk, and a small one with vertices drawn at random. Updates are sequential, so equal settings
// and walks give equal vectors.
type SkipGram struct {
	Dims     int     // numbers per vector, 1 to 65536
	Window   int     // largest distance on a walk that counts as near; each vertex of a walk draws its own, from 1 to Window
	Negative int     // random vertices per pair, 1 to 100, drawn in proportion to visits^¾
	Epochs   int     // passes over the walks, 1 or more
	Rate     float32 // initial learning rate, above 0 and up to 1; it falls linearly to a thousandth
	Seed     uint64
}

// check says what is wrong with the settings.
func (c *SkipGram) check() error {
	switch {
	case c.Dims < 1 || c.Dims > 1<<16:
		return fmt.Errorf("%d dimensions: 1 to %d are possible", c.Dims, 1<<16)
	case c.Window < 1:
		return fmt.Errorf("a window of %d: at least 1", c.Window)
	case c.Negative < 1 || c.Negative > 100:
		return fmt.Errorf("%d negative draws: 1 to 100 are possible", c.Negative)
	case c.Epochs < 1:
		return fmt.Errorf("%d epochs: at least 1", c.Epochs)
	case !(c.Rate > 0 && c.Rate <= 1):
		return fmt.Errorf("a learning rate of %v: it lies above 0 and up to 1", c.Rate)
	}
	return nil
}

// learner is a run of SkipGram.
type learner struct {
	SkipGram
	key      stream
	in, out  []float32 // V×Dims: the vectors that Train returns, and the vectors of near vertices (the context)
	negative []aliasEntry
	sigmoid  [2*sigmoidRange*sigmoidSteps + 1]float32
	grad     []float32
	rate     float32
	seen     int64 // vertices of walks so far, over all epochs
}

// The sigmoid is a table over -sigmoidRange to sigmoidRange, sigmoidSteps entries per unit. Pairs with
// an inner product outside this range are not updated.
const (
	sigmoidRange = 6
	sigmoidSteps = 256
)

// Train returns the vectors of the vertices 0 to v-1, v×Dims. It calls walks once to count visits and
// once per epoch. walks must call f with every walk, in the same order each time, and may reuse the
// memory of a walk when f returns. Vertices of walks must be below v. Vertices that no walk visits keep
// their random initial vectors. Invalid settings, errors of walks and an empty list of walks are errors.
func (c SkipGram) Train(v int, walks func(f func(walk []uint32) error) error) ([]float32, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	visits, total := make([]float64, v), int64(0)
	err := walks(func(walk []uint32) error {
		for _, x := range walk {
			visits[x]++
		}
		total += int64(len(walk))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, errors.New("there are no walks to learn from")
	}
	l := c.begin(v, visits)
	for epoch := range c.Epochs {
		number := uint32(0)
		err := walks(func(walk []uint32) error {
			done := float64(l.seen) / float64(total*int64(c.Epochs))
			l.rate = float32(float64(c.Rate) * max(0.001, 1-done))
			l.walk(walk, number, uint32(epoch))
			l.seen += int64(len(walk))
			number++
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return l.in, nil
}

// begin draws the initial vectors and makes the tables.
func (c SkipGram) begin(v int, visits []float64) *learner {
	l := &learner{SkipGram: c, key: Key{Seed: c.Seed}.stream(), in: make([]float32, v*c.Dims), out: make([]float32, v*c.Dims), grad: make([]float32, c.Dims)}
	for i := 0; i < len(l.in); i += 4 {
		w := l.key.words(place{of: uint32(i >> 2), step: uint32(i >> 34), slot: ^uint32(0)})
		for j := range min(4, len(l.in)-i) {
			l.in[i+j] = (uniform(w[j]) - 0.5) / float32(c.Dims)
		}
	}
	shares := make([]float32, v)
	for i, n := range visits {
		shares[i] = float32(math.Pow(n, 0.75))
	}
	l.negative = make([]aliasEntry, v)
	new(vose).fill(shares, l.negative)
	for i := range l.sigmoid {
		l.sigmoid[i] = float32(1 / (1 + math.Exp(-(float64(i)/sigmoidSteps - sigmoidRange))))
	}
	return l
}

// walk learns from all pairs of a walk. Its draws depend on number, the walk's number, and epoch.
func (l *learner) walk(walk []uint32, number, epoch uint32) {
	for i, target := range walk {
		w := l.key.words(place{of: number, step: uint32(i), site: epoch})
		near := 1 + below(w[0], l.Window)
		for j := max(0, i-near); j <= min(len(walk)-1, i+near); j++ {
			if j != i {
				l.pair(walk[j], target, place{of: number, step: uint32(i), slot: uint32(j-i+l.Window+1) << 8, site: epoch})
			}
		}
	}
}

// pair moves the vector of a vertex towards the context vector of near, and away from the context
// vectors of random vertices.
func (l *learner) pair(vertex, near uint32, at place) {
	h := l.in[int(vertex)*l.Dims:][:l.Dims]
	clear(l.grad)
	l.towards(h, near, 1)
	var w [4]uint32
	for k := range l.Negative {
		if k&1 == 0 {
			w = l.key.words(at)
			at.slot++
		}
		i := below(w[k&1*2], len(l.negative))
		if x := l.negative[i]; w[k&1*2+1] >= x.Cut {
			i = int(x.Other)
		}
		if uint32(i) != near {
			l.towards(h, uint32(i), 0)
		}
	}
	simd.AddTo(h, l.grad)
}

// towards makes a gradient step that brings the sigmoid of h·out closer to want, 0 or 1. It updates
// out, the context vector of vertex, and adds the step for h to l.grad.
func (l *learner) towards(h []float32, vertex uint32, want float32) {
	out := l.out[int(vertex)*l.Dims:][:len(h)]
	x := dot(h, out)
	if !(x > -sigmoidRange && x < sigmoidRange) {
		return
	}
	g := (want - l.sigmoid[int((x+sigmoidRange)*sigmoidSteps)]) * l.rate
	simd.Axpy(l.grad, g, out)
	simd.Axpy(out, g, h)
}

// dot is the inner product of x and y, by eight partial sums.
func dot(x, y []float32) float32 {
	var s [8]float32
	n := len(x) &^ 7
	for i := 0; i < n; i += 8 {
		a, b := (*[8]float32)(x[i:]), (*[8]float32)(y[i:])
		s[0] += a[0] * b[0]
		s[1] += a[1] * b[1]
		s[2] += a[2] * b[2]
		s[3] += a[3] * b[3]
		s[4] += a[4] * b[4]
		s[5] += a[5] * b[5]
		s[6] += a[6] * b[6]
		s[7] += a[7] * b[7]
	}
	for i := n; i < len(x); i++ {
		s[0] += x[i] * y[i]
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
