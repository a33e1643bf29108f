package saga

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"sagann/dataset"
	"sagann/device"
	"sagann/saga/report"
)

// arithmetic is the revision of the arithmetic: how kernels, optimisers and sums compute, as far as
// report/facts.go does not say it. Raise it if the same facts now give other bits on any kind of device: another
// order of terms in a sum, another formula of an op, another rounding. Do not raise it if the change
// shows in the facts, as another program does, or gives the same bits.
//
//	1  until da2cd53; digests did not name their revision
//	2  sums over columns of slices in one order whatever the slices, NaN goes through ReLU and
//	   maxima, long sums of float32 stay accurate
const arithmetic = 2

// identity identifies a run's computation (Digest) and its data (checksum).
type identity struct{ digest, data string }

func (p *Program) identity() identity { return identity{p.Digest(), p.in.checksum()} }

// Digest is a hash of everything but the data that the bits of a training run depend on: the revision of
// the arithmetic, the kind of device, the seed, the operations, the optimiser's numbers, the order of
// vertices, intervals, visits and devices, and precomputed values (see report/facts.go). Runs with equal
// digests and data compute equal bits on the same type of machine. It is the revision, a hyphen, and the hash.
func (p *Program) Digest() string {
	h := sha256.New()
	w := bufio.NewWriter(h)
	p.writeFacts(w)
	w.Flush() // a hash takes every write
	return fmt.Sprintf("%d-%x", arithmetic, h.Sum(nil)[:16])
}

// writeFacts writes the text that Digest hashes.
func (p *Program) writeFacts(w io.Writer) {
	o := &p.cfg.Optimizer
	a := report.Arithmetic{Revision: arithmetic, Device: p.cfg.Device, TF32: p.cfg.TF32, Seed: p.cfg.Seed, Optimizer: o.facts(),
		Decay: func(param string) float32 {
			if p.decays(param) {
				return o.WeightDecay
			}
			return 0
		},
		Extra: func(name string) []byte {
			if p.in == nil {
				return nil
			}
			return bytesOf(p.in.extra[name])
		}}
	if p.sampled != nil {
		a.Sampling = p.sampled.Sampling.String() + ", program " + p.sampled.draw.Digest()
	} else if p.grids.order != nil {
		a.Vertices = wordsOf(p.grids.order.New)
	}
	p.report().WriteFacts(w, a)
}

// revisionOf is the revision of the arithmetic in a digest.
func revisionOf(digest string) string {
	if revision, _, ok := strings.Cut(digest, "-"); ok {
		return revision
	}
	return "1"
}

// sameArithmetic is an error if digest is of another revision of the arithmetic.
func sameArithmetic(digest string) error {
	if then, now := revisionOf(digest), strconv.Itoa(arithmetic); then != now {
		return fmt.Errorf("the checkpoint was trained by revision %s of the arithmetic and this program computes by revision %s, so training cannot go on bit for bit; it can be predicted from, embedded and evaluated", then, now)
	}
	return nil
}

// checksum is the CRC-32C of all data that training reads.
func (in *inputs) checksum() string {
	d, e, sum := in.data, in.edges, uint32(0)
	sparse := in.sparseParts()
	parts := [][]byte{wordsOf(d.Labels), bytesOf(d.MultiLabels), wordsOf(d.Train)}
	if d.Shard != nil { // its columns are those of the whole graph
		for _, name := range []string{"src", "dst", "weight", "type", "data", "features"} {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(d.Shard.Bytes(name))))
			sum = d.Shard.Sum(sum, name)
		}
	} else {
		if sparse == nil {
			d.HoldFeatures()
		}
		parts = append([][]byte{wordsOf(e.Src), wordsOf(e.Dst), bytesOf(in.weight), wordsOf(e.Type), bytesOf(e.Data), bytesOf(d.Features)}, parts...)
	}
	for _, x := range parts {
		sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(len(x))))
		for part := range slices.Chunk(x, blockBytes) { // may lie in a file
			sum = crc32.Update(sum, castagnoli, part)
			device.Drop(part)
		}
	}
	if in.oneLoop {
		sum = crc32.Update(sum, castagnoli, []byte("one loop"))
	}
	if in.link != nil {
		for _, p := range []*dataset.Pairs{&in.link.links.Train, &in.link.links.Val, &in.link.links.NotVal} {
			sum = crc32.Update(crc32.Update(sum, castagnoli, wordsOf(p.Src)), castagnoli, wordsOf(p.Dst))
		}
	}
	if in.loss.numbers() {
		for _, x := range [][]float32{d.Targets.Vertex, d.Targets.Edge.Rows, d.Targets.Graph.Rows} {
			sum = crc32.Update(sum, castagnoli, bytesOf(x))
		}
	}
	for _, x := range sparse {
		sum = crc32.Update(sum, castagnoli, x)
	}
	if in.graphs {
		for _, x := range [][]byte{wordsOf(d.GraphOf), wordsOf(d.GraphLabels), wordsOf(d.GraphSplit.Train)} {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(len(x))))
			sum = crc32.Update(sum, castagnoli, x)
		}
	}
	return fmt.Sprintf("%08x", sum)
}

func wordsOf[T uint32 | int32 | uint64 | float64](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), int(unsafe.Sizeof(x[0]))*len(x))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
