package saga

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"unsafe"

	"sagann/dataflow/plan"
	"sagann/device"
)

// identity says what training computes on and in which order.
type identity struct{ digest, data string }

func (p *Program) identity() identity { return identity{p.Digest(), p.in.checksum()} }

// Digest names the order in which a training step sums: kernels, order of vertices,
// intervals, visits and devices, and the invariants. Equal digests give equal bits on one type
// of machine and one version of this module.
func (p *Program) Digest() string {
	h := sha256.New()
	l, pl := p.train.low, p.train.plan
	fmt.Fprintf(h, "%d %+v %+v %v\n", pl.Cells.P, l.Spec.Globals, l.Spec.Phases, l.Consts)
	for _, k := range l.Kernels {
		c := *k
		c.Instrs = slices.Clone(c.Instrs)
		for i := range c.Instrs {
			c.Instrs[i].Fn = nil // an address
		}
		fmt.Fprintf(h, "%+v\n", c)
	}
	for d := range pl.Devices { // which run side by side
		for i := range pl.Tasks {
			t := &pl.Tasks[i]
			// What is made of a chunk on its arrival adds nothing up, and memory decides how often chunks arrive.
			if arrival := t.Kind == plan.Run && t.Step < 0; int(t.Device) == d && (t.Kind == plan.Run || t.Kind == plan.Add) && !arrival {
				fmt.Fprintln(h, t.Kind, t.Device, t.From, t.Phase, t.Step, t.Kernel, t.Own, t.Other, t.First, t.Last)
			}
		}
	}
	binary.Write(h, binary.LittleEndian, p.order.New) // a hash takes every write
	names := make([]string, 0, len(p.in.extra))
	for name := range p.in.extra {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(h, name, p.in.cols[name])
		for part := range slices.Chunk(bytesOf(p.in.extra[name]), blockBytes) {
			h.Write(part)
			device.Drop(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// checksum is the CRC-32C of all that training reads.
func (in *inputs) checksum() string {
	d, e, sum := in.data, in.edges, uint32(0)
	d.HoldFeatures()
	for _, x := range [][]byte{wordsOf(e.Src), wordsOf(e.Dst), bytesOf(e.Weight), wordsOf(e.Type), bytesOf(e.Data),
		bytesOf(d.Features), wordsOf(d.Labels), bytesOf(d.MultiLabels), wordsOf(d.Train)} {
		sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(len(x))))
		for part := range slices.Chunk(x, blockBytes) { // may lie in a file
			sum = crc32.Update(sum, castagnoli, part)
			device.Drop(part)
		}
	}
	if in.graphs {
		for _, x := range [][]byte{wordsOf(d.GraphOf), wordsOf(d.GraphLabels), wordsOf(d.GraphTrain)} {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(len(x))))
			sum = crc32.Update(sum, castagnoli, x)
		}
	}
	return fmt.Sprintf("%08x", sum)
}

func wordsOf[T uint32 | int32](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
