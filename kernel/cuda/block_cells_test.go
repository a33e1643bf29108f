package cuda_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/backend"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/device/launch"
	"sagann/internal/draw"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// TestTurnEmulated: the edges of a block seen from their far ends are in the order of their numbers, with what a table has of them; so is
// what saga_pick takes.
func TestTurnEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 3))
	const graph = 5000 // edges of the graph
	for _, c := range []struct{ own, far, most int }{{1, 1, 1}, {300, 700, 12}, {40, 600000, 25}, {40, 20000, 25}, {900, 3, 4}} {
		var words []uint32
		begin, far, number := []uint32{0}, []uint32{}, []uint32{}
		for range c.own {
			for range r.IntN(c.most + 1) {
				far, number = append(far, uint32(r.IntN(c.far))), append(number, uint32(r.IntN(graph)))
			}
			begin = append(begin, uint32(len(far)))
		}
		table := make([]uint32, graph)
		for i := range table {
			table[i] = r.Uint32()
		}
		put := func(list []uint32, more int) (at int) {
			at = len(words)
			words = append(append(words, list...), make([]uint32, more)...)
			return at
		}
		edges := len(far)
		beginAt, farAt, numberAt, tableAt := put(begin, 0), put(far, 0), put(number, 0), put(table, 0)
		ends, room, other, turned, picked := put(nil, c.far+1), put(nil, max(edges, 128)), put(nil, edges), put(nil, edges), put(nil, edges)
		all := int64(max(4*len(words), 1<<12))
		d := cudatest.Open(t, 0, all+1<<12)
		must := cudatest.Must(t)
		q, m, base := cudatest.Room(t, d, all)
		f, err := launch.Compile(d, cuda.BlockSource, []string{"saga_turn_count", "saga_turn_part", "saga_turn_sum", "saga_turn_put", "saga_turn_order", "saga_pick"})
		must(err)
		mem := make([]byte, all)
		for i, x := range words {
			binary.LittleEndian.PutUint32(mem[4*i:], x)
		}
		must(d.CopyH2D(q, m, 0, mem))
		at := func(name string, word int) kernel.GPUArg { return kernel.GPUAt(name, base+4*uint64(word)) }
		num := kernel.GPUNumber[int]
		none := func(names ...string) (list []kernel.GPUArg) {
			for _, n := range names {
				list = append(list, kernel.GPUAt(n, 0))
			}
			return list
		}
		call := func(k, blocks int, block, shared uint32, args ...kernel.GPUArg) device.Command {
			c, err := backend.Call(f[k], [3]uint32{uint32(blocks), 1, 1}, block, shared, args)
			must(err)
			return c
		}
		each, blocks := kernel.TurnEach(c.far, 128)
		by, n := at("ends", ends), num("edges", edges)
		sums := []kernel.GPUArg{by, num("rows", c.far), num("each", each), at("parts", room)}
		must(d.Launch(q, device.GPUFunc("turn", func(g device.GPU) (device.Batch, error) {
			return g.Prepare([]device.Command{
				call(0, 1, 256, 0, by, at("far", farAt), n),
				call(1, blocks, 1024, kernel.TurnShared, sums...),
				call(2, blocks, 1024, kernel.TurnShared, append(sums, n)...),
				call(3, 1, 256, 0, by, at("far", farAt), n, at("room", room)),
				call(4, 1, 256, 0, append(none("to0", "table0", "to2", "table2"), at("begins", ends), at("far", farAt), n, at("room", room), at("ptr", beginAt), num("rows", c.own),
					at("other", other), at("number", numberAt), at("to1", turned), at("table1", tableAt))...),
				call(5, 1, 256, 0, append(none("to0", "table0", "to1", "table1"), n, at("number", numberAt), at("to2", picked), at("table2", tableAt))...)})
		})))
		must(d.CopyD2H(q, mem, m, 0))
		must(d.Sync())
		got := func(word, n int) (list []uint32) {
			for i := range n {
				list = append(list, binary.LittleEndian.Uint32(mem[4*(word+i):]))
			}
			return list
		}
		var wantEnds, wantOther, wantTurned, wantPicked []uint32
		for v := range c.far {
			wantEnds = append(wantEnds, uint32(len(wantOther)))
			for o := range c.own {
				for e := begin[o]; e < begin[o+1]; e++ {
					if int(far[e]) == v {
						wantOther, wantTurned = append(wantOther, uint32(o)), append(wantTurned, table[number[e]])
					}
				}
			}
		}
		wantEnds = append(wantEnds, uint32(edges))
		for _, e := range number {
			wantPicked = append(wantPicked, table[e])
		}
		for what, x := range map[string][2][]uint32{"rows": {got(ends, c.far+1), wantEnds}, "ends": {got(other, edges), wantOther},
			"numbers by far end": {got(turned, edges), wantTurned}, "numbers": {got(picked, edges), wantPicked}} {
			if !slices.Equal(x[0], x[1]) {
				t.Errorf("%+v: %s %v, want %v", c, what, x[0], x[1])
			}
		}
		must(d.Free(m))
	}
}
