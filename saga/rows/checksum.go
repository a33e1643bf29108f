package rows

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"sagann/dataset"
	"sagann/device"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of all data that training reads, for links also of the links to predict.
func (in *Inputs) Checksum(links *dataset.Links) string {
	d, e, sum := in.Data, in.Edges, uint32(0)
	sparse := in.sparseParts()
	parts := [][]byte{device.Bytes(d.Labels), device.Bytes(d.MultiLabels), device.Bytes(d.Train)}
	if d.Shard != nil { // its columns are those of the whole graph
		for _, name := range []string{"src", "dst", "weight", "type", "data", "features"} {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(d.Shard.Bytes(name))))
			sum = d.Shard.Sum(sum, name)
		}
	} else {
		if sparse == nil {
			d.HoldFeatures()
		}
		parts = append([][]byte{device.Bytes(e.Src), device.Bytes(e.Dst), device.Bytes(in.weight), device.Bytes(e.Type), device.Bytes(e.Data), device.Bytes(d.Features)}, parts...)
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
	if links != nil {
		for _, p := range []*dataset.Pairs{&links.Train, &links.Val, &links.NotVal} {
			sum = crc32.Update(crc32.Update(sum, castagnoli, device.Bytes(p.Src)), castagnoli, device.Bytes(p.Dst))
			sum = crc32.Update(sum, castagnoli, device.Bytes(p.Type))
		}
	}
	if in.Meaning.Numbers {
		for _, x := range [][]float32{d.Targets.Vertex, d.Targets.Edge.Rows, d.Targets.Graph.Rows} {
			sum = crc32.Update(sum, castagnoli, device.Bytes(x))
		}
	}
	for _, x := range [][]float32{d.Targets.EdgeSets.Rows, d.Targets.GraphSets.Rows} {
		sum = crc32.Update(sum, castagnoli, device.Bytes(x))
	}
	for _, x := range sparse {
		sum = crc32.Update(sum, castagnoli, x)
	}
	if in.Meaning.Graphs {
		for _, x := range [][]byte{device.Bytes(d.GraphOf), device.Bytes(d.GraphLabels), device.Bytes(d.GraphSplit.Train)} {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(len(x))))
			sum = crc32.Update(sum, castagnoli, x)
		}
	}
	return fmt.Sprintf("%08x", sum)
}
