package dataset

import (
	"fmt"
	"io"
	"os"

	"sagann/chunk"
)

// storeMagic is how a store begins; the file's own reader checks the rest.
const storeMagic = "sagaNN"

// loadStore reads the project's own chunked store at path into memory. ok is
// false when path is no store, and Load then looks for other formats.
func loadStore(path string) (d *Data, ok bool, err error) {
	if !isStore(path) {
		return nil, false, nil
	}
	s, err := chunk.Open(path)
	if err != nil {
		return nil, true, err
	}
	defer s.Close()
	d = &Data{FeatureCols: s.FeatureCols()}
	if d.Name, err = s.Name(); err != nil {
		return nil, true, err
	}
	if d.Edges, err = s.ReadEdges(); err != nil {
		return nil, true, err
	}
	if d.FeatureCols > 0 {
		if d.Features, err = s.ReadFeatures(0, s.V()); err != nil {
			return nil, true, err
		}
	}
	if d.Labels, err = s.Labels(); err != nil {
		return nil, true, err
	}
	if d.MultiLabels, err = s.MultiLabels(); err != nil {
		return nil, true, err
	}
	if d.Labels != nil || d.MultiLabels != nil {
		d.Classes = s.Classes()
	}
	if d.Train, d.Val, d.Test, err = s.Splits(); err != nil {
		return nil, true, err
	}
	d.GraphOf, d.GraphLabels, err = s.Graphs()
	return d, true, err
}

func isStore(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(storeMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == storeMagic
}

// WriteStore writes d as a store with a base×base grid (1..chunk.MaxBase) over a
// vertex order that balances the edges per cell. Reading it back gives d again,
// edges in the same order. Data that does not pass Validate is refused.
func WriteStore(path string, d *Data, base int) error {
	if err := Validate(d); err != nil {
		return err
	}
	switch {
	case d.EdgeLabels != nil:
		return fmt.Errorf("%s: a store does not keep edge labels; write a folder of .npy files", d.Name)
	case d.GraphSplit.Train != nil || d.GraphSplit.Val != nil || d.GraphSplit.Test != nil:
		return fmt.Errorf("%s: a store does not keep splits of graphs; write a folder of .npy files", d.Name)
	}
	e := d.Edges
	meta := chunk.Meta{Name: d.Name, V: e.V, Base: base, KeepOrder: true, Weighted: e.Weight != nil,
		Types: e.Types, DataCols: e.DataCols, FeatureCols: d.FeatureCols, Classes: d.Classes}
	if base > 1 {
		meta.Order = chunk.Balance(e, base)
	}
	w, err := chunk.Create(path, meta)
	if err != nil {
		return err
	}
	// The writer keeps its first error, and Close returns it.
	w.AppendEdges(e)
	d.HoldFeatures()
	w.AppendFeatures(d.Features)
	if d.Labels != nil {
		w.SetLabels(d.Labels)
	}
	if d.MultiLabels != nil {
		w.SetMultiLabels(d.MultiLabels)
	}
	w.SetSplits(d.Train, d.Val, d.Test)
	if d.GraphOf != nil {
		w.SetGraphs(d.GraphOf, d.GraphLabels)
	}
	return w.Close()
}
