package sample

import (
	"slices"

	"sagann/internal/simd"
)

// plain is a walk whose Next only calls Pick, or PickWeighted by Alias. It may stop before that with
// a probability: If(Less(r.Uniform(), stop), None, place). Its steps need no registers, only a few
// loops.
type plain struct {
	stops bool
	stop  float32
	alias bool
	site  int // site of the draw of the place; the draw of the stop has the site before

	second *second // not nil: the walk is of second order
}

// plainWalk returns the sampler as a plain walk, or nil if it is none.
func (p *Program) plainWalk() *plain {
	s := &p.s
	walks := s.Top > 0 || s.Output == Steps && !p.manyDraws() // with Top, Size is a number of walks
	if p.code == nil || !walks || s.Over != Individual || s.Unique != Repeats || s.Most > 0 || p.transits != nil || p.counts {
		return nil
	}
	l, w := p.code.list, &plain{}
	place, sites := &l[p.code.result], p.code.sites
	if x, at := p.code.secondOrder(); x != nil {
		w.second, place = x, &l[at]
		sites = x.decides
	} else if c := &l[place.a]; place.op == opIf && l[place.b].isNone() && c.op == opLess+realOps && l[c.a].op == opUniform && l[c.b].op == opLit {
		w.stops, w.stop, place = true, l[c.b].real, &l[place.c]
	}
	row := place
	if w.alias = place.op == opAlias; place.op == opBelow {
		row = &l[place.a]
	}
	first := 0
	if w.stops {
		first = 1
	}
	w.site = int(place.imm)
	end := w.site + 1
	if w.alias {
		end++
	}
	if (w.alias || row.op == opDegree) && l[row.a].op == opAt && w.site == first && end == sites {
		return w
	}
	return nil
}

func (x *instruction) isNone() bool { return x.op == opLit && x.imm == -1 }

// plainStrip is the memory of a plain walk for a strip.
type plainStrip struct {
	words  [4][width]uint32 // random words in the order of a list of samples,
	random [width][4]uint32 // and by sample
	names  [width]uint32
	read   uint32 // sum of the numbers that touch reads, so that the compiler keeps the reads
	tries         // for walks of second order
}

// addPlain is add for a plain walk, with the same draws. It removes walks that have ended from
// f.live.
func (f *frame) addPlain(out []uint32) (added int) {
	w := f.plain
	if f.step == 0 {
		if f.strip == nil {
			f.strip = &plainStrip{}
		}
		f.live = slices.Grow(f.live[:0], f.n)[:f.n]
		for i := range f.live {
			f.live[i] = int32(i)
		}
	}
	turn := f.step % f.c.pack * f.c.sites
	if turn == 0 && w.second == nil {
		f.draw(f.live, uint32(f.step/f.c.pack), counter(0, 0))
		words := &f.strip.words
		for k, i := range f.live {
			f.strip.random[i] = [4]uint32{words[0][k], words[1][k], words[2][k], words[3][k]}
		}
	}
	f.onward(turn)
	if len(f.live) < f.n && f.more == nil {
		for i := range out {
			out[i] = NoVertex
		}
	}
	if w.second != nil {
		f.addSecond(out)
		return len(f.live)
	}
	if site := turn + w.site; w.alias {
		f.settle(site, out)
	} else {
		for k, i := range f.live {
			f.begins[k] += int64(below(f.strip.random[i][site&3], int(f.lengths[k])))
		}
	}
	far := f.p.g.Far
	f.strip.touch(far, f.begins[:len(f.live)])
	for k, i := range f.live {
		out[i] = far[f.begins[k]]
	}
	return len(f.live)
}

// draw computes the random words of a counter for a list of samples.
func (f *frame) draw(list []int32, step, site uint32) {
	w, names := &f.strip.words, f.strip.names[:len(list)]
	for k, i := range list {
		names[k] = f.name(int(i))
	}
	simd.Philox(w[0][:], w[1][:], w[2][:], w[3][:], names, step, 0, site, f.key.k0, f.key.k1)
}

// touch reads list at the indexes at, to bring these cache lines into cache for the loops that
// follow. In a loop that does nothing else the cache misses overlap.
func (s *plainStrip) touch(list []uint32, at []int64) {
	sum := uint32(0)
	for _, i := range at {
		sum += list[i]
	}
	s.read += sum
}

// onward keeps in f.live the walks that do not stop and are at a vertex with edges. It sets begins
// and lengths of the rows of these vertices, in the order of f.live.
func (f *frame) onward(turn int) {
	offsets, transits, live, w, r := f.p.g.Offsets, f.transits, f.live, f.plain, &f.rows
	sum := int64(0)
	for _, i := range live { // reads ahead, as touch does; offsets[v+1] may be in the next cache line
		if v := transits[i]; v != NoVertex {
			sum += offsets[v] + offsets[v+1]
		}
	}
	f.strip.read += uint32(sum)
	if w.second != nil {
		f.onwardSecond()
		return
	}
	k := 0
	for _, i := range live {
		if w.stops && uniform(f.strip.random[i][turn&3]) < w.stop {
			continue
		}
		v := transits[i]
		if v == NoVertex {
			continue
		}
		lo, hi := offsets[v], offsets[v+1]
		live[k], r.begins[k], r.lengths[k] = i, lo, uint32(hi-lo)
		if hi > lo {
			k++
		}
	}
	f.live = live[:k]
}

// settle draws places by alias tables and adds them to f.begins. Walks at rows whose weights are all
// 0 end.
func (f *frame) settle(site int, out []uint32) {
	alias, left := f.p.tables.alias, 0
	for k, i := range f.live {
		w := &f.strip.random[i]
		place := below(w[site&3], int(f.lengths[k]))
		if x := alias[f.begins[k]+int64(place)]; w[(site+1)&3] >= x.Cut {
			if x.Other == noPlace {
				out[i] = NoVertex
				continue
			}
			place = int(x.Other)
		}
		f.live[left], f.begins[left] = i, f.begins[k]+int64(place)
		left++
	}
	f.live = f.live[:left]
}
