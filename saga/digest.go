package saga

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

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

func (p *Program) identity() identity { return identity{p.Digest(), p.in.checksum(p.sampled.byTime())} }

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
	a := report.Arithmetic{Revision: arithmetic, Device: p.cfg.Device, TF32: p.cfg.TF32, Seed: p.cfg.Seed, Optimizer: append(o.facts(), p.dims.embeddingInit.facts()...),
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
			return device.Bytes(p.in.holder(name).Kept(name))
		}}
	if a.Sampling = p.mode.facts().sampling; a.Sampling == "" && p.grids.order != nil {
		a.Vertices = device.Bytes(p.grids.order.New)
		if k := p.grids.kinds; k != nil {
			a.Vertices, a.Kinds = nil, p.in.kinds.facts()
			if p.in.link != nil {
				of := p.data.Vertices.Kinds
				a.Kinds = append(a.Kinds, fmt.Sprintf("links %q", of.Graph.FullName(of.Relation)))
			}
			for _, o := range k.orders {
				a.Vertices = append(a.Vertices, device.Bytes(o.New)...)
			}
		}
	}
	p.report().WriteFacts(w, a)
}

// checksum is the CRC-32C of all data that training reads, and of times if edges are drawn by them.
func (in *inputs) checksum(times bool) string {
	if times {
		of := crc32.Checksum(device.Bytes(in.Data.Edges.Time), castagnoli)
		if k := in.kinds; k != nil {
			for i := range k.relations {
				of = crc32.Update(of, castagnoli, device.Bytes(k.relations[i].in.Edges.Time))
			}
		}
		return fmt.Sprintf("%s-%08x", in.checksum(false), crc32.Update(of, castagnoli, device.Bytes(in.Data.Vertices.Time)))
	}
	if k := in.kinds; k != nil {
		var all []byte
		for i := range k.types {
			var links *dataset.Links
			if i == k.target && in.link != nil {
				links = in.link.links
			}
			all = fmt.Appendf(all, "%q %s\n", k.types[i].name, k.types[i].in.Checksum(links))
		}
		for i := range k.relations {
			all = fmt.Appendf(all, "%q %s\n", k.relations[i].Relation, k.relations[i].in.Checksum(nil))
		}
		return fmt.Sprintf("%08x", crc32.Checksum(all, castagnoli))
	}
	if in.link == nil {
		return in.Checksum(nil)
	}
	return in.Checksum(in.link.links)
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
