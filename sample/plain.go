package sample

import (
	"slices"

	"sagann/internal/simd"
)

// plain is a walk whose Next does nothing but Pick, or PickWeighted by Alias, and may stop before with a probability: If(Less(r.Uniform(),
// stop), None, place). Its steps are a few loops, without registers.
type plain struct {
	stops bool
	stop  float32
	alias bool
	site  int // of the place; stop has the one before

	second *second // nil: of first order
}

// plainWalk is the plain walk that a sampler is; nil where it is none.
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

// plainStrip is what the loops of a plain walk keep of a strip.
type plainStrip struct {
	words  [4][width]uint32 // as they were drawn for a list,
	random [width][4]uint32 // and by sample
	names  [width]uint32
	read   uint32 // so that no read is left out
	tries         // of walks of second order
}

// addPlain is add for a plain walk: the same draws. Walks that have ended leave the list of those that live.
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

// draw makes the random words of a site for a list of samples.
func (f *frame) draw(list []int32, step, site uint32) {
	w, names := &f.strip.words, f.strip.names[:len(list)]
	for k, i := range list {
		names[k] = f.name(int(i))
	}
	simd.Philox(w[0][:], w[1][:], w[2][:], w[3][:], names, step, 0, site, f.key.k0, f.key.k1)
}

// touch reads numbers of a list at places. A loop that does nothing else waits for many reads together, and those after it find what they
// read in cache.
func (s *plainStrip) touch(list []uint32, at []int64) {
	sum := uint32(0)
	for _, i := range at {
		sum += list[i]
	}
	s.read += sum
}

// onward leaves the walks alive that go on from a vertex with edges, and sets where its row begins, and its
// length, in the order of the list.
func (f *frame) onward(turn int) {
	offsets, transits, live, w, r := f.p.g.Offsets, f.transits, f.live, f.plain, &f.rows
	sum := int64(0)
	for _, i := range live { // as touch does; a row may end in the next line
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

// settle adds places by alias tables to where rows begin. Walks whose rows have no weight end.
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
