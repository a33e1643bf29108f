package sample

import (
	"math"
	"slices"
)

// weighted sets t.places to at most k places of the row of v, ascending, drawn in proportion to
// scores. With Replace the draws are independent. Without it each draw is among the edges that are
// left. Edges of score 0 and the places first to end-1 are not drawn.
func (p *Program) weighted(t *tool, v uint32, first, end, k int, s stream, at place) {
	lo, n := p.span(int64(v))
	score := p.scores[lo : lo+int64(n)]
	t.places = t.places[:0]
	drawable := 0
	for i, x := range score {
		if x > 0 && (i < first || i >= end) {
			drawable++
		}
	}
	switch {
	case drawable == 0:
	case !p.s.Replace && drawable <= k:
		for i, x := range score {
			if x > 0 && (i < first || i >= end) {
				t.places = append(t.places, uint32(i))
			}
		}
	case p.s.Replace && first == end:
		for j := range k {
			at.slot = uint32(j)
			t.places = append(t.places, p.scored(v, s, at))
		}
		slices.Sort(t.places)
	case p.s.Method == Race || p.s.Replace || first < end:
		p.race(t, score, first, end, k, s, at)
	default:
		p.successive(t, v, score, k, s, at)
	}
}

// scored draws a place of the row of v in proportion to scores. One of them must be above 0.
func (p *Program) scored(v uint32, s stream, at place) uint32 {
	w := s.words(at)
	switch p.s.Method {
	case Inverse:
		return uint32(p.inversePlace(int64(v), w[0]))
	case Rejection:
		lo, n := p.span(int64(v))
		for {
			i := below(w[0], n)
			if uniform(w[1])*p.tables.most[v] < p.scores[lo+int64(i)] {
				return uint32(i)
			}
			if at.site++; at.site == 1<<16 { // the mean score is far below the largest
				return scan(p.scores[lo:lo+int64(n)], uint64(w[2])<<32|uint64(w[3]))
			}
			w = s.words(at)
		}
	}
	return uint32(p.aliasPlace(int64(v), w[0], w[1]))
}

// scan draws a place in proportion to scores. It reads all scores.
func scan(score []float32, word uint64) uint32 {
	sum, last := 0.0, 0
	for i, x := range score {
		if sum += float64(x); x > 0 {
			last = i
		}
	}
	left := float64(word>>11) * (1.0 / (1 << 53)) * sum
	for i, x := range score[:last] {
		if left -= float64(x); left < 0 {
			return uint32(i)
		}
	}
	return uint32(last)
}

// successive draws until it has k different places. It drops draws that repeat a place, so each
// new place is drawn in proportion among those that are left. After patience·k draws it draws the
// rest by a race, which has the same probabilities.
func (p *Program) successive(t *tool, v uint32, score []float32, k int, s stream, at place) {
	const patience = 64 // draws per place; a race takes time in proportion to the length of the row
	for j := 0; len(t.places) < k; j++ {
		if j == patience*k {
			p.rest(t, score, k, s, at)
			break
		}
		at.slot = uint32(j)
		if i := p.scored(v, s, at); !slices.Contains(t.places, i) {
			t.places = append(t.places, i)
		}
	}
	slices.Sort(t.places)
}

// rest adds places by a race among the edges that are left, until there are k.
func (p *Program) rest(t *tool, score []float32, k int, s stream, at place) {
	left := slices.Clone(score)
	for _, i := range t.places {
		left[i] = 0
	}
	have := slices.Clone(t.places)
	p.race(t, left, 0, 0, k-len(have), s, at)
	t.places = append(t.places, have...)
}

// runner is a place in a race.
type runner struct {
	time  float64
	place uint32
}

// race sets t.places to the k places with the smallest -log(u)/score (Efraimidis and Spirakis,
// 2006), the lower place if two are equal. This draws without replacement. With Replace it holds
// one race for each of the k draws.
func (p *Program) race(t *tool, score []float32, first, end, k int, s stream, at place) {
	rounds := 1
	if p.s.Replace {
		rounds, k = k, 1
	}
	t.places = t.places[:0]
	for round := range rounds {
		t.runners = t.runners[:0]
		at.site = 255<<24 | uint32(round) // other words than those of scored
		var random [4]uint32
		for i, x := range score {
			if i&3 == 0 {
				at.slot = uint32(i >> 2)
				random = s.words(at)
			}
			if x > 0 && (i < first || i >= end) {
				t.runners = append(t.runners, runner{-logOf(random[i&3]) / float64(x), uint32(i)})
			}
		}
		slices.SortFunc(t.runners, func(a, b runner) int {
			switch {
			case a.time < b.time || a.time == b.time && a.place < b.place:
				return -1
			}
			return 1
		})
		for _, r := range t.runners[:k] {
			t.places = append(t.places, r.place)
		}
	}
	slices.Sort(t.places)
}

// logOf is the natural logarithm of (word+½)·2⁻³². It sums the series of 2·artanh((m-1)/(m+1)) for
// a mantissa m near 1. Every operation is rounded on its own, so all devices give the same bits.
func logOf(word uint32) float64 {
	m, e := math.Frexp((float64(word) + 0.5) * (1.0 / (1 << 32)))
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	z := (m - 1) / (m + 1)
	q := float64(z * z)
	sum := 1.0 / 19
	for n := 17; n > 0; n -= 2 {
		sum = float64(sum*q) + 1/float64(n)
	}
	return float64(2*float64(z*sum)) + float64(float64(e)*math.Ln2)
}
