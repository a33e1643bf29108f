package ring

import "math"

// Copy is a copy between two places, each the index of a GPU or Host.
type Copy struct{ From, To int }

// Rates are the rates (B/s) of copies that run at the same time, by max-min
// fairness: all rates rise together; when a link is full, the rates of the copies on it are fixed
// and the others rise further. Host memory is that of the GPU's own socket. A copy that no
// link limits has an infinite rate.
func (t *Tree) Rates(copies []Copy) []float64 {
	rates := make([]float64, len(copies))
	ways := make([][]int, len(copies))
	left := make([]float64, 3*(len(t.Links)+1)) // of every link, the bridge last: down, up, both
	users := make([]int, len(left))
	for l := range t.Links {
		left[3*l], left[3*l+1], left[3*l+2] = t.Links[l].Down, t.Links[l].Up, t.Links[l].Both
	}
	b := 3 * len(t.Links)
	left[b], left[b+1], left[b+2] = t.Bridge.Down, t.Bridge.Up, t.Bridge.Both
	for i, c := range copies {
		rates[i] = math.Inf(1)
		if c.From != Host && c.To != Host {
			if p := t.peer(c.From, c.To); p.Kind == Direct {
				if p.Rate > 0 {
					rates[i] = p.Rate
				}
				continue
			}
		}
		for _, r := range t.way(c) {
			if left[r] > 0 { // 0: no limit
				ways[i] = append(ways[i], r)
				users[r]++
			}
		}
	}
	for open := true; open; {
		open = false
		full, rate := -1, math.Inf(1)
		for r, n := range users {
			if n > 0 && (full < 0 || left[r]/float64(n) < rate) {
				full, rate = r, left[r]/float64(n)
			}
		}
		if full < 0 {
			break
		}
		for i, way := range ways {
			held := false
			for _, r := range way {
				held = held || r == full
			}
			if !held {
				continue
			}
			rates[i], ways[i], open = rate, nil, true
			for _, r := range way {
				left[r] = max(0, left[r]-rate)
				users[r]--
			}
		}
	}
	return rates
}

// way lists the resources that a copy over the tree uses. A link is three resources, numbered in this
// order: down, up, and both directions together.
func (t *Tree) way(c Copy) []int {
	var up, down []int
	if c.From != Host {
		up = t.chain(t.GPUs[c.From].Link)
	}
	if c.To != Host {
		down = t.chain(t.GPUs[c.To].Link)
	}
	var out []int
	if c.From != Host && c.To != Host {
		switch {
		case t.peer(c.From, c.To).Kind == Switched:
			for len(up) > 0 && len(down) > 0 && up[0] == down[0] {
				up, down = up[1:], down[1:]
			}
		case up[0] < down[0]:
			out = append(out, 3*len(t.Links), 3*len(t.Links)+2)
		case up[0] > down[0]:
			out = append(out, 3*len(t.Links)+1, 3*len(t.Links)+2)
		}
	}
	for _, l := range up {
		out = append(out, 3*l+1, 3*l+2)
	}
	for _, l := range down {
		out = append(out, 3*l, 3*l+2)
	}
	return out
}

// alone is the rate of a copy that runs alone.
func (t *Tree) alone(from, to int) float64 { return t.Rates([]Copy{{from, to}})[0] }

// loads are the rates at which the GPUs read host memory when all of them do.
func (t *Tree) loads(gpus []int) []float64 {
	var c []Copy
	for _, g := range gpus {
		c = append(c, Copy{Host, g})
	}
	return t.Rates(c)
}
