package table

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"sagann/mine/rows"
	"sagann/mine/run"
)

// Level is what is known before of the rows of a size.
type Level struct {
	Made  float64 // rows that begin so and fulfil the conditions
	Exact bool    // Made is counted, not estimated
	Error float64 // the relative standard error of Made
	Seen  int     // rows of the size that were looked at
	Kept  float64 // of Made those that lead to whole rows
	// Seconds is the time for making and keeping the rows of the next size from these, on one thread; of whole rows 0.
	Seconds float64
	// Words is the words in which GPUs keep whole rows of more than one edge or vertex, see PackedWords.
	Words float64
}

// The samples: so many groups, which tell how far estimates differ; rows of a group; rows that follow those, at most about; rows of a group of
// which it is asked whether they lead to whole rows, and rows that are looked at for an answer.
const (
	sampleGroups = 16
	sampleRows   = 1 << 10
	sampleNext   = 1 << 18
	sampleLeads  = 64
	leadSteps    = 1 << 12
)

// sampler draws rows of a table.
type sampler struct {
	*Spec
	rand  *rand.Rand
	pairs []float64 // pairs of edges at the vertices before, and in all
	words int64     // PackedWords of what followed the rows that were read last, if whole rows did
}

// Sizes estimates how many rows of each size there are, without making them: of one and two edges (vertices) from degrees, of more from
// random rows of the size before and all that follow them. Rows without conditions of one and two are exact. The spec begins with no stored rows.
func (s *Spec) Sizes(ctx context.Context, seed uint64) (levels []Level, err error) {
	defer func() {
		if v := recover(); v != nil {
			levels, err = nil, &PanicError{v}
		}
	}()
	levels = make([]Level, s.Size+1)
	made := make([][]float64, s.Size+1) // by size, of each group
	d := &sampler{Spec: s, rand: rand.New(rand.NewPCG(seed, 0)), pairs: pairsBefore(s.Rows)}
	led, asked := make([]float64, s.Size+1), make([]float64, s.Size+1)
	rates := make([][]float64, s.Size+1) // seconds a row that is read or made
	var words []float64                  // of each group
	for range sampleGroups {
		var list [][]uint32
		n := 0.0
		for k := 1; k <= s.Size; k++ {
			if k <= 2 {
				list, n = d.first(k)
			}
			if made[k] = append(made[k], n); k <= 2 {
				levels[k].Seen += len(list)
			}
			if k == s.Size {
				break
			}
			next, took, used, followed, all := d.next(ctx, k, list)
			if used > 0 {
				rates[k] = append(rates[k], took.Seconds()/float64(used+all))
			}
			if k >= 2 {
				levels[k+1].Seen += all
			}
			if k == s.Size-1 {
				words = append(words, n*float64(d.words)/max(1, float64(used)))
				led[k], asked[k] = led[k]+float64(followed), asked[k]+float64(used)
			} else {
				for _, row := range list[:min(len(list), sampleLeads)] {
					led[k], asked[k] = led[k]+float64(btoi(d.leads(row))), asked[k]+1
				}
			}
			if list = next; used > 0 {
				n *= float64(all) / float64(used)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	levels[s.Size].Words, _ = meanOf(words)
	for k := s.Size; k > 0; k-- {
		l := &levels[k]
		l.Made, l.Error = meanOf(made[k])
		l.Exact = k <= 2 && d.free(k)
		if l.Kept = l.Made; k < s.Size {
			l.Kept = min(l.Made*led[k]/max(1, asked[k]), levels[k+1].Kept) // each leads to one at least
		}
		if n := len(rates[k]); n > 0 {
			slices.Sort(rates[k])
			// Of the groups that were slow most waited for a processor.
			l.Seconds = rates[k][n/4] * (l.Made + levels[k+1].Made)
		}
	}
	return levels[1:], nil
}

func btoi(x bool) int {
	if x {
		return 1
	}
	return 0
}

// meanOf is the mean, and its relative standard error.
func meanOf(list []float64) (mean, deviation float64) {
	n, square := float64(len(list)), 0.0
	for _, x := range list {
		mean += x / n
	}
	for _, x := range list {
		square += (x - mean) * (x - mean)
	}
	if mean > 0 {
		deviation = math.Sqrt(square/(n*(n-1))) / mean
	}
	return mean, deviation
}

// free reports whether rows of up to a size have no conditions.
func (s *Spec) free(size int) bool {
	for k, e := range s.Where {
		if k <= size && e != nil {
			return false
		}
	}
	return s.Keep == nil
}

// pairsBefore is, for each vertex and in the end, how many pairs of edges meet at the vertices before.
func pairsBefore(r *rows.Rows) []float64 {
	sum := make([]float64, r.V()+1)
	for v := range r.V() {
		n := float64(r.Degree(uint32(v)))
		sum[v+1] = sum[v] + n*(n-1)/2
	}
	return sum
}

// first draws rows of one or two edges (vertices), and says how many there are of those that fulfil the conditions.
func (d *sampler) first(size int) (list [][]uint32, n float64) {
	r := d.Rows
	all := float64(r.V())
	switch {
	case d.Vertices && size == 2 || !d.Vertices && size == 1:
		all = float64(r.Edges())
	case !d.Vertices:
		all = d.pairs[r.V()]
	}
	if all == 0 {
		return nil, 0
	}
	row := newRow(d.Spec, false)
	for range sampleRows {
		at := d.draw(size)
		if row.passes(at) {
			list = append(list, at)
		}
	}
	return list, all * float64(len(list)) / sampleRows
}

// draw draws a row of one or two edges (vertices); there are some.
func (d *sampler) draw(size int) []uint32 {
	r := d.Rows
	switch {
	case d.Vertices && size == 1:
		return []uint32{uint32(d.rand.IntN(r.V()))}
	case d.Vertices || size == 1:
		at := d.rand.Int64N(int64(len(r.Col)))
		u := uint32(sort.Search(r.V(), func(v int) bool { return r.Off[v+1] > at }))
		return []uint32{min(u, r.Col[at]), max(u, r.Col[at])}
	}
	x := d.rand.Float64() * d.pairs[r.V()]
	v := uint32(min(sort.Search(r.V(), func(v int) bool { return d.pairs[v+1] > x }), r.V()-1))
	near := r.Of(v)
	i, j := d.rand.IntN(len(near)), d.rand.IntN(len(near)-1)
	if j >= i {
		j++
	}
	e, f := edgeOf(v, near[i]), edgeOf(v, near[j])
	e, f = min(e, f), max(e, f)
	return []uint32{uint32(e >> 32), uint32(e), uint32(f >> 32), uint32(f)}
}

// passes reports whether a row fulfils the conditions of its size and of those before.
func (r *Row) passes(at []uint32) bool {
	width := 2 - btoi(r.spec.Vertices)
	for k := 1; k*width <= len(at); k++ {
		r.at = append(r.at[:0], at[:k*width]...)
		if r.where[k] != nil && r.where[k]() == 0 || r.spec.Keep != nil && !r.spec.Keep(r) {
			return false
		}
	}
	return true
}

// next draws rows of those that follow rows of a size: of how many it used, how many of these have one that follows, and how many follow in all. It
// makes them as Store does, in the time that it took.
func (d *sampler) next(ctx context.Context, size int, list [][]uint32) (next [][]uint32, took time.Duration, used, followed, all int) {
	spec := *d.Spec
	spec.Size, spec.Where = size+1, spec.Where[:min(len(spec.Where), size+2)]
	r, last, begin := newRow(&spec, true), size+1 == d.Size, time.Now()
	kept := spec.stored()
	kept.meter, kept.every = run.NewMeter(0), math.MaxInt64
	before, open := make([]uint32, 0, 2*spec.Size), make([]uint32, spec.Size)
	var counts []int // of rows that follow each
	for _, row := range list {
		if all > sampleNext || ctx.Err() != nil {
			break
		}
		was := all
		r.at = append(r.at[:0], row...)
		r.extend(func(r *Row) bool {
			if all++; last {
				if slices.Equal(before, r.at) { // drawn twice; no two rows of a table are equal
					return true
				}
				if kept.add(r, before, open) != nil {
					return false
				}
				before = append(before[:0], r.at...)
				return true
			}
			if len(next) < sampleRows {
				next = append(next, slices.Clone(r.at))
			} else if i := d.rand.IntN(all); i < sampleRows {
				copy(next[i], r.at)
			}
			return true
		})
		used, followed = used+1, followed+btoi(all > was)
		counts = append(counts, all-was)
	}
	took, d.words = time.Since(begin), 0
	for i, kept := range counts {
		if last {
			d.words += PackedWords(d.need(list[i]), int64(kept))
		}
	}
	d.rand.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	if last { // how many, which is all that is asked of whole rows
		next = nil
	}
	return next, took, used, followed, all
}

// leads reports whether a row leads to a whole one; if that takes long, that it does.
func (d *sampler) leads(row []uint32) bool {
	spec, steps, found := *d.Spec, 0, false
	keep := spec.Keep
	var r *Row
	spec.Keep = func(*Row) bool {
		if steps++; steps > leadSteps {
			r.over = true
			return false
		}
		return keep == nil || keep(r)
	}
	r = newRow(&spec, false)
	r.at = append(r.at, row...)
	r.extend(func(*Row) bool { found = true; return false })
	return found || steps > leadSteps
}

// Columns is the bytes that stored rows take by what is known of their levels, and how much of it goes to the file if the columns may take room bytes; room 0: any.
func (s *Spec) Columns(levels []Level, room int64) (all, spilled float64) {
	full := 0.0
	for k, l := range levels {
		columns := float64(1 + btoi(k+1 < s.Size))
		all += 4 * columns * l.Kept
		full += columns * math.Floor(l.Kept/pageWords)
	}
	if room > 0 {
		pages := max(0, room-OpenBytes(s.Size)-MarkBytes) / PageBytes
		spilled = PageBytes * max(0, full-float64(pages))
	}
	return all, spilled
}
