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

// TestFarRowsEmulated: batch after batch, rows of a table come from the host, the hot ones or one of the three batches before, each counted
// where it comes from, in the order of the vertices and in that of the batch.
func TestFarRowsEmulated(t *testing.T) {
	const vertices, words, full, hot, most, row = 5000, 5, 4, 700, 1500, 16 * 5
	r := rand.New(rand.NewPCG(draw.Seed(t), 2))
	for _, sorted := range []bool{true, false} {
		const (
			table, hots, slots = 0, vertices * row, vertices*row + hot*row
			places             = (slots + 4*vertices + 15) / 16 * 16
			counts             = places + 32*vertices
			bits               = counts + 24
			next               = bits + 4*((vertices+31)/32)
			ids                = next + 4
			rooms              = (ids + 4*most + 15) / 16 * 16
			all                = rooms + 4*most*row
		)
		d := cudatest.Open(t, 0, all+1<<12)
		must := cudatest.Must(t)
		q, m, base := cudatest.Room(t, d, all)
		kernels, err := launch.Compile(d, cuda.BlockSource, []string{"saga_far_mark", "saga_far_near", "saga_far_take"})
		must(err)
		mem := make([]byte, all)
		for v := range vertices {
			for k := range row { // what pads it is not read
				mem[table+v*row+k] = byte(v*7 + k*13 + v>>8)
			}
			binary.LittleEndian.PutUint32(mem[slots+4*v:], ^uint32(0))
		}
		for k := range hot { // other bytes, so that one sees where a row comes from
			v := k * 7
			binary.LittleEndian.PutUint32(mem[slots+4*v:], uint32(k))
			for i := range row {
				mem[hots+k*row+i] = ^mem[table+v*row+i]
			}
		}
		var had, hadEarlier, hadFirst []int
		var want [3]uint64
		for tag := 1; tag < 8; tag++ {
			n := most - tag*37
			list := r.Perm(vertices)[:n]
			if !sorted {
				list[3], list[n-1] = list[0], list[1]
			}
			room, match, match2, match3 := tag%4, 0, 0, 0
			if tag != 4 { // as if the one before were another's
				match = tag - 1
			}
			if tag > 2 && tag != 4 && tag != 5 {
				match2 = tag - 2
			}
			if tag > 5 {
				match3 = tag - 3
			}
			rows := make([][]byte, n)
			for i, v := range list {
				binary.LittleEndian.PutUint32(mem[ids+4*i:], uint32(v))
				old, older, oldest, slot := slices.Index(had, v), slices.Index(hadEarlier, v), slices.Index(hadFirst, v), binary.LittleEndian.Uint32(mem[slots+4*v:])
				switch {
				case match > 0 && old >= 0: // whatever lies in its room
					at := rooms + (tag+3)%4*most*row + old*row
					rows[i], want[2] = slices.Clone(mem[at:at+row]), want[2]+1
				case match2 > 0 && older >= 0:
					at := rooms + (tag+2)%4*most*row + older*row
					rows[i], want[2] = slices.Clone(mem[at:at+row]), want[2]+1
				case match3 > 0 && oldest >= 0:
					at := rooms + (tag+1)%4*most*row + oldest*row
					rows[i], want[2] = slices.Clone(mem[at:at+row]), want[2]+1
				case slot != ^uint32(0):
					rows[i], want[1] = slices.Clone(mem[hots+int(slot)*row:][:row]), want[1]+1
				default:
					rows[i], want[0] = slices.Clone(mem[table+v*row:][:row]), want[0]+1
				}
			}
			at := func(off int) uint64 { return base + uint64(off) }
			last, then, first, third := at(places+tag%4*8*vertices), at(places+(tag+3)%4*8*vertices), at(places+(tag+2)%4*8*vertices), at(places+(tag+1)%4*8*vertices)
			marked := vertices
			if !sorted {
				marked = n
			}
			to, before, earlier, eldest := at(rooms+room*most*row), at(rooms+(tag+3)%4*most*row), at(rooms+(tag+2)%4*most*row), at(rooms+(tag+1)%4*most*row)
			ptr, num, again := kernel.GPUAt, kernel.GPUNumber[int], kernel.GPUFlag("again", !sorted)
			call := func(k int, blocks, shared uint32, args ...kernel.GPUArg) device.Command {
				c, err := backend.Call(kernels[k], [3]uint32{blocks, 1, 1}, 256, shared, args)
				must(err)
				return c
			}
			old := []kernel.GPUArg{ptr("then", then), num("match", match), ptr("first", first), num("match2", match2), ptr("third", third), num("match3", match3), ptr("slots", at(slots)), ptr("ids", at(ids))}
			wide := []kernel.GPUArg{ptr("to", to), num("words", words), num("full", full)}
			must(d.CopyH2D(q, m, 0, mem))
			must(d.Launch(q, device.GPUFunc("far", func(g device.GPU) (device.Batch, error) {
				return g.Prepare([]device.Command{
					{Clear: &device.Clear{Addr: at(bits), Bytes: 4 * ((vertices+31)/32 + 1)}},
					call(0, 3, 0, append(old, ptr("last", last), ptr("bits", at(bits)), num("n", n), num("tag", tag), again, ptr("counts", at(counts)))...),
					call(1, 3, kernel.NearShared, append(append(old, wide...), num("n", n), ptr("hot", at(hots)), ptr("before", before), ptr("earlier", earlier), ptr("eldest", eldest))...),
					call(2, 2, kernel.FarShared, append(wide, ptr("ids", at(ids)), ptr("host", at(table)), ptr("last", last), ptr("bits", at(bits)), ptr("next", at(next)), num("all", marked), again)...)})
			})))
			must(d.CopyD2H(q, mem, m, 0))
			must(d.Sync())
			for i, x := range rows {
				clear(x[16*full:])
				if !slices.Equal(mem[rooms+room*most*row+i*row:][:row], x) {
					t.Fatalf("sorted %t, batch %d: row %d, of vertex %d, is another", sorted, tag, i, list[i])
				}
			}
			for k, x := range want {
				if got := binary.LittleEndian.Uint64(mem[counts+8*k:]); got != x {
					t.Errorf("sorted %t, batch %d: count %d is %d, want %d", sorted, tag, k, got, x)
				}
			}
			hadFirst, hadEarlier = hadEarlier, had
			if had = list; !sorted { // of a vertex that stands there twice either row may be taken
				had = nil
				for i := range n {
					v := int(binary.LittleEndian.Uint32(mem[ids+4*i:]))
					if got := uint32(binary.LittleEndian.Uint64(mem[places+tag%4*8*vertices+8*v:])); int(got) == i {
						had = append(had, v)
					} else {
						had = append(had, -1)
					}
				}
			}
		}
		must(d.Free(m))
	}
}
