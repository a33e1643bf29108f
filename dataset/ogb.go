package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
)

// loadOGB reads the CSV files of an OGB node-property set: raw holds edge,
// num-node-list, node-feat, node-label and edge-feat (.csv or .csv.gz), and
// beside raw stands split/<scheme>/train, valid and test. Edges are directed as
// listed. A label column with one value is a class, -1 or nan for none; several
// columns of 0 and 1 are multi-labels.
func loadOGB(raw string) (*Data, error) {
	root := filepath.Dir(filepath.Clean(raw))
	d := &Data{Name: filepath.Base(root)}
	nodes, name, err := tuInts(filepath.Join(raw, "num-node-list.csv"))
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("%s: %d graphs; only sets of one graph (ogbn-…) are read", name, len(nodes))
	}
	if nodes[0] < 1 || nodes[0] > math.MaxUint32 {
		return nil, fmt.Errorf("%s:1: %d vertices", name, nodes[0])
	}
	if d.Edges, err = ogbEdges(raw, int(nodes[0])); err != nil {
		return nil, err
	}
	x, cols, name, err := tuMatrix(filepath.Join(raw, "node-feat.csv"))
	if err == nil && len(x) != cols*d.Edges.V {
		err = fmt.Errorf("%s: %d rows for %d vertices", name, len(x)/max(cols, 1), d.Edges.V)
	}
	if err == nil {
		d.Features, d.FeatureCols = x, cols
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := d.ogbLabels(raw); err != nil {
		return nil, err
	}
	return d, d.ogbSplits(filepath.Join(root, "split"))
}

func ogbEdges(raw string, vertices int) (*chunk.Edges, error) {
	t, err := openText(filepath.Join(raw, "edge.csv"))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	e := &chunk.Edges{V: vertices}
	err = scanEdges(t, func(src, dst uint64, _ float32) error {
		if src >= uint64(vertices) || dst >= uint64(vertices) {
			return fmt.Errorf("edge %d,%d: vertex ids must be below %d", src, dst, vertices)
		}
		e.Src, e.Dst = append(e.Src, uint32(src)), append(e.Dst, uint32(dst))
		return nil
	})
	if err == nil {
		err = checkVertexCount(uint64(vertices), e.E())
	}
	if err != nil {
		return nil, err
	}
	x, cols, name, err := tuMatrix(filepath.Join(raw, "edge-feat.csv"))
	if err == nil && len(x) != cols*e.E() {
		err = fmt.Errorf("%s: %d rows for %d edges", name, len(x)/max(cols, 1), e.E())
	}
	if errors.Is(err, os.ErrNotExist) {
		return e, nil
	}
	e.Data, e.DataCols = x, cols
	return e, err
}

func (d *Data) ogbLabels(raw string) error {
	t, err := openText(filepath.Join(raw, "node-label.csv"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer t.Close()
	err = t.eachLine(func(line []byte) error {
		n, isNaN := 0, false
		for len(line) > 0 {
			var f []byte
			f, line = field(line)
			isNaN = strings.EqualFold(string(f), "nan")
			x := int64(-1)
			if !isNaN {
				if x, err = parseInt(f); err != nil {
					return t.errorf("%w", err)
				}
			}
			if x < -1 || x >= 1<<31-1 {
				return t.errorf("label %d", x)
			}
			d.Labels = append(d.Labels, int32(x))
			n++
		}
		if d.Classes == 0 {
			d.Classes = n
		}
		if n != d.Classes {
			return t.errorf("%d labels, the rows before have %d", n, d.Classes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(d.Labels) != d.Edges.V*d.Classes {
		return fmt.Errorf("%s: %d rows for %d vertices", t.name, len(d.Labels)/max(d.Classes, 1), d.Edges.V)
	}
	if d.Classes > 1 {
		d.MultiLabels = make([]float32, len(d.Labels))
		for i, c := range d.Labels {
			if c != 0 && c != 1 {
				return fmt.Errorf("%s: row %d, column %d: multi-labels must be 0 or 1", t.name, i/d.Classes, i%d.Classes)
			}
			d.MultiLabels[i] = float32(c)
		}
		d.Labels = nil
		return nil
	}
	if d.Classes, err = classCount(d.Labels); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// ogbSplits reads the only scheme under dir; none leaves the data without splits.
func (d *Data) ogbSplits(dir string) error {
	schemes, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	schemes = slices.DeleteFunc(schemes, func(e os.DirEntry) bool { return !e.IsDir() })
	if len(schemes) == 0 {
		return nil
	}
	if len(schemes) > 1 {
		return fmt.Errorf("%s: %d split schemes, want one", dir, len(schemes))
	}
	parts := []*[]uint32{&d.Train, &d.Val, &d.Test}
	for k, part := range []string{"train", "valid", "test"} {
		ids, name, err := tuInts(filepath.Join(dir, schemes[0].Name(), part+".csv"))
		if err != nil {
			return err
		}
		list := make([]uint32, len(ids))
		for i, v := range ids {
			if v < 0 || v >= int64(d.Edges.V) {
				return fmt.Errorf("%s:%d: vertex %d: ids must be 0..%d", name, i+1, v, d.Edges.V-1)
			}
			list[i] = uint32(v)
		}
		slices.Sort(list)
		*parts[k] = list
	}
	return nil
}
