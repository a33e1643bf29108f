package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"sagann/dataset"
	"sagann/saga"
)

// splitFacts say on which split of which labels a model was trained, so that evaluate can tell another one.
type splitFacts struct {
	Vertices int       `json:"vertices"`
	Edges    int       `json:"edges"`
	Labels   uint32    `json:"labels"` // CRC-32C
	Parts    [3]uint32 `json:"parts"`  // of training, validation, test
	Mask     int       `json:"mask,omitempty"`
	Masks    int       `json:"masks,omitempty"` // how many splits the file had; 0: one, or another was made
}

// factsOf are those of the splits that d has now.
func factsOf(d *dataset.Data, task saga.Task) *splitFacts {
	f := &splitFacts{Vertices: d.Edges.V, Edges: d.Edges.E()}
	switch labels := labelsOf(d, task); {
	case labels != nil:
		f.Labels = crcOf(labels)
	case d.Sets(task).Rows != nil:
		f.Labels = crcOf(d.Sets(task).Rows)
	default:
		f.Labels = crcOf(d.Targets.Of(task).Rows)
	}
	for i, ids := range d.Splits(task) {
		f.Parts[i] = crcOf(ids)
	}
	if task == saga.VertexTask {
		f.Mask, f.Masks = d.Report.Mask, d.Report.Masks
	}
	return f
}

// crcOf is the CRC-32C of x, a piece at a time.
func crcOf[T uint32 | int32 | float32](x []T) uint32 {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for part := range slices.Chunk(x, 1<<16) {
		binary.Write(h, binary.LittleEndian, part) // a hash takes every write
	}
	return h.Sum32()
}

// name is which split of a file with several it is.
func (f *splitFacts) name() string {
	if f.Masks == 0 {
		return ""
	}
	return fmt.Sprintf(" (number %d of %d, from 0)", f.Mask, f.Masks)
}

// otherSplit says that what is scored may have been trained on: the graph and its labels are those of training and the
// splits are not. It is "" where that is not so, or not known.
func (e *evaluation) otherSplit() string {
	then := e.prep.Splits
	if then == nil || e.on == "all" {
		return ""
	}
	now := factsOf(e.data, e.task())
	if now.Vertices != then.Vertices || now.Edges != then.Edges || now.Labels != then.Labels || now.Parts == then.Parts {
		return ""
	}
	return fmt.Sprintf("%s has the graph and labels of training but another split%s than the model was trained on%s: %s of its %s split may have been trained on",
		e.name, now.name(), then.name(), e.task().Plural(), e.on)
}
