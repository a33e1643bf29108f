package ring_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/ring"
)

// drawTree draws sockets, switches under them and GPUs under those, with few rates so
// that equals are common.
func drawTree(t *rapid.T) *ring.Tree {
	tree := &ring.Tree{Name: "drawn"}
	rate := func() float64 { return 1e9 * float64(rapid.SampledFrom([]int{1, 2, 3, 8}).Draw(t, "rate")) }
	add := func(parent int) int {
		l := ring.Link{Name: fmt.Sprintf("link%d", len(tree.Links)), Parent: parent, Down: rate(), Up: rate()}
		if rapid.IntRange(0, 2).Draw(t, "half duplex") == 0 {
			l.Both = max(l.Down, l.Up)
		}
		if rapid.IntRange(0, 5).Draw(t, "no limit") == 0 {
			l.Down, l.Up, l.Both = 0, 0, 0
		}
		tree.Links = append(tree.Links, l)
		return len(tree.Links) - 1
	}
	n := rapid.IntRange(1, 7).Draw(t, "GPUs")
	if rapid.IntRange(0, 19).Draw(t, "many") == 0 {
		n = rapid.IntRange(8, 14).Draw(t, "many GPUs")
	}
	var places []int
	for range rapid.IntRange(1, 2).Draw(t, "sockets") {
		s := add(-1)
		for range rapid.IntRange(1, 3).Draw(t, "switches") {
			places = append(places, add(s))
		}
	}
	tree.Bridge = ring.Link{Down: rate(), Up: rate()}
	for i := range n {
		l := add(rapid.SampledFrom(places).Draw(t, "place"))
		tree.GPUs = append(tree.GPUs, ring.GPU{Name: fmt.Sprintf("gpu%d", i), Link: l})
	}
	kind := ring.PeerKind(rapid.IntRange(0, 2).Draw(t, "peers"))
	for range n {
		tree.Peers = append(tree.Peers, slices.Repeat([]ring.Peer{{Kind: kind, Rate: 5e9}}, n))
	}
	return tree
}

// Rates are fair and possible: no link carries more than it can, and every copy has a
// full link on its way (else it could go faster).
func TestRates(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		var copies []ring.Copy
		for range rapid.IntRange(1, 6).Draw(t, "copies") {
			c := ring.Copy{From: rapid.IntRange(-1, len(tree.GPUs)-1).Draw(t, "from"), To: rapid.IntRange(-1, len(tree.GPUs)-1).Draw(t, "to")}
			if c.From != c.To {
				copies = append(copies, c)
			}
		}
		rates := tree.Rates(copies)
		for i, c := range copies {
			alone := tree.Rates([]ring.Copy{c})[0]
			if !(rates[i] > 0) || rates[i] > alone*(1+1e-9) {
				t.Fatalf("%v runs at %g, alone at %g", c, rates[i], alone)
			}
			rest := append(slices.Clone(copies[:i]), copies[i+1:]...)
			least := func(r []float64) float64 { // the worst off never gains by company
				if len(r) == 0 {
					return math.Inf(1)
				}
				return slices.Min(r)
			}
			if least(tree.Rates(rest)) < slices.Min(rates)*(1-1e-9) {
				t.Fatalf("without %v the slowest of the others is slower", c)
			}
		}
		for l := range tree.Links {
			for way, capacity := range []float64{tree.Links[l].Down, tree.Links[l].Up} {
				sum := 0.0
				for i, c := range copies {
					if crosses(tree, c, l, way) {
						sum += rates[i]
					}
				}
				if capacity > 0 && sum > capacity*(1+1e-9) {
					t.Fatalf("link %d carries %g of %g", l, sum, capacity)
				}
			}
		}
	})
}

// crosses says whether a copy uses a link downward (way 0) or upward.
func crosses(tree *ring.Tree, c ring.Copy, link, way int) bool {
	under := func(g int) bool {
		for l := -1; g >= 0; {
			if l < 0 {
				l = tree.GPUs[g].Link
			}
			if l == link {
				return true
			}
			if l = tree.Links[l].Parent; l < 0 {
				return false
			}
		}
		return false
	}
	root := func(g int) int {
		l := tree.GPUs[g].Link
		for tree.Links[l].Parent >= 0 {
			l = tree.Links[l].Parent
		}
		return l
	}
	end, other := c.To, c.From
	if way == 1 {
		end, other = c.From, c.To
	}
	if !under(end) {
		return false
	}
	if c.From < 0 || c.To < 0 {
		return true
	}
	switch p := tree.Peers[c.From][c.To]; {
	case p.Kind == ring.Direct:
		return false
	case p.Kind == ring.Switched && root(c.From) == root(c.To):
		return !under(other)
	}
	return true
}

// In the fat tree every GPU reads the host as fast as alone, and no GPU that went could
// be put back.
func TestFatTree(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		gpus, why := tree.FatTree()
		if len(gpus) == 0 || len(gpus)+len(why) != len(tree.GPUs) {
			t.Fatalf("%d GPUs, %d left, %d reasons", len(tree.GPUs), len(gpus), len(why))
		}
		full := func(gpus []int) bool {
			for l := range tree.Links {
				sum, n := 0.0, 0
				for _, g := range gpus {
					c := ring.Copy{From: ring.Host, To: g}
					if crosses(tree, c, l, 0) {
						sum += tree.Rates([]ring.Copy{c})[0]
						n++
					}
				}
				if down := tree.Links[l].Down; n > 1 && down > 0 && sum > down*(1+1e-9) {
					return false
				}
			}
			return true
		}
		if !full(gpus) {
			t.Fatalf("%v share an uplink", gpus)
		}
		loaders, _ := tree.Loaders()
		bring := func(gpus []int) float64 {
			var c []ring.Copy
			for _, g := range gpus {
				c = append(c, ring.Copy{From: ring.Host, To: g})
			}
			sum := 0.0
			for _, r := range tree.Rates(c) {
				sum += r
			}
			return sum
		}
		if len(loaders) == 0 || bring(loaders) < float64(len(loaders))*0.99e9/float64(len(tree.GPUs)) {
			t.Fatalf("loaders %v bring %g B/s", loaders, bring(loaders))
		}
	})
}

// Steps: every chunk reaches every GPU that uses it exactly once, over one copy a GPU and
// step, from the GPU before it, which has it from the step before; only loaders load,
// every chunk once; it is computed on in the step after it came, and dropped after its
// last use.
func TestSteps(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		r, err := ring.New(drawTree(t))
		if err != nil {
			t.Fatal(err)
		}
		checkRing(t, r)
		k := len(r.Order)
		n := rapid.IntRange(0, 3*k+1).Draw(t, "chunks")
		uses := func(chunk, gpu int) bool { return true }
		if rapid.Bool().Draw(t, "sparse") {
			table := rapid.SliceOfN(rapid.Bool(), n*k+1, n*k+1).Draw(t, "uses")
			uses = func(chunk, gpu int) bool { return table[chunk*k+gpu] }
		}
		steps := r.Steps(n, uses)
		arrived := make([]map[int]int, k) // chunk to step, by GPU
		for g := range arrived {
			arrived[g] = map[int]int{}
		}
		loaded, computed, dropped := map[int]int{}, map[[2]int]int{}, map[int]int{}
		lastUse := map[int]int{}
		for s, step := range steps {
			for i, g := range r.Order {
				a := step[g]
				before := r.Order[(i+k-1)%k]
				if a.Host != ring.None && a.Next != ring.None {
					t.Fatalf("step %d: GPU %d has two arrivals", s, g)
				}
				if c := a.Host; c != ring.None {
					if loaded[c]++; !slices.Contains(r.Loaders, g) || loaded[c] > 1 {
						t.Fatalf("step %d: GPU %d loads chunk %d, loaders are %v", s, g, c, r.Loaders)
					}
				}
				if c := a.Next; c != ring.None {
					if at, ok := arrived[before][c]; !ok || at != s-1 {
						t.Fatalf("step %d: GPU %d copies chunk %d, which came to GPU %d in step %d", s, g, c, before, at)
					}
				}
				if c := a.Arrives(); c != ring.None {
					if _, again := arrived[g][c]; again {
						t.Fatalf("step %d: chunk %d comes to GPU %d again", s, c, g)
					}
					if _, gone := dropped[c]; gone {
						t.Fatalf("step %d: chunk %d moves after it was dropped", s, c)
					}
					arrived[g][c] = s
				}
				if c := a.Compute; c != ring.None {
					if at, ok := arrived[g][c]; !ok || at != s-1 || !uses(c, g) {
						t.Fatalf("step %d: GPU %d computes on chunk %d", s, g, c)
					}
					computed[[2]int{c, g}]++
					lastUse[c] = s
				}
			}
			for g := range step {
				if c := step[g].Drop; c != ring.None {
					dropped[c] = s
				}
			}
		}
		for c := range n {
			used := false
			for g := range k {
				used = used || uses(c, g)
				want := 0
				if uses(c, g) {
					want = 1
				}
				if got := computed[[2]int{c, g}]; got != want {
					t.Fatalf("GPU %d computes on chunk %d %d times, want %d", g, c, got, want)
				}
			}
			if at, ok := dropped[c]; ok != used || at != lastUse[c] {
				t.Fatalf("chunk %d is dropped in step %d (%v), last used in %d", c, at, ok, lastUse[c])
			}
			if (loaded[c] == 1) != used {
				t.Fatalf("chunk %d is loaded %d times, used: %v", c, loaded[c], used)
			}
		}
		// Nobody waits: with all chunks of whole rounds used by all, a GPU computes in every
		// step from its first to its last.
		if n%k == 0 && n > 0 && len(computed) == n*k {
			for g := range k {
				first, last := len(steps), 0
				for s, step := range steps {
					if step[g].Compute != ring.None {
						first, last = min(first, s), max(last, s)
					}
				}
				if last-first+1 != n {
					t.Fatalf("GPU %d computes on %d chunks from step %d to %d", g, n, first, last)
				}
			}
		}
	})
}

// checkRing: the order is one of all GPUs, loaders stand in it, and their shares add up.
func checkRing(t *rapid.T, r *ring.Ring) {
	k := len(r.Order)
	sorted := slices.Sorted(slices.Values(r.Order))
	for i, g := range sorted {
		if i != g {
			t.Fatalf("order %v", r.Order)
		}
	}
	sum := 0
	for _, n := range r.Takes {
		sum += n
	}
	if sum != k || k != len(r.Tree.GPUs) || len(r.Takes) != len(r.Loaders) || !(r.Slowest > 0) {
		t.Fatalf("%d GPUs, loaders %v take %v, slowest %g", k, r.Loaders, r.Takes, r.Slowest)
	}
	again, err := ring.New(r.Tree)
	if err != nil || !slices.Equal(again.Order, r.Order) || !slices.Equal(again.Loaders, r.Loaders) {
		t.Fatalf("again: %v, %v", again, err)
	}
}

// The slowest copy of the ring is as fast as that of any other order: a second, dumb
// search agrees.
func TestSlowestLink(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		if len(tree.GPUs) > 5 {
			return
		}
		r, err := ring.New(tree)
		if err != nil {
			t.Fatal(err)
		}
		slowest := func(order []int) float64 {
			var pass, load []ring.Copy
			for i, g := range order {
				if i > 0 || len(order) > 1 {
					c := ring.Copy{From: order[(i+len(order)-1)%len(order)], To: g}
					pass = append(pass, c)
					if !slices.Contains(r.Loaders, g) {
						load = append(load, c)
					}
				}
				if slices.Contains(r.Loaders, g) {
					load = append(load, ring.Copy{From: ring.Host, To: g})
				}
			}
			return slices.Min(append(tree.Rates(pass), tree.Rates(load)...))
		}
		try := rapid.Permutation(slices.Clone(r.Order)).Draw(t, "order")
		if got := slowest(r.Order); got != r.Slowest || slowest(try) > got*(1+1e-9) {
			t.Fatalf("%v: %g (%g said), %v: %g", r.Order, got, r.Slowest, try, slowest(try))
		}
	})
}
