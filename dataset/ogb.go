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

// openOGB reads an OGB node-property set. The folder raw has edge, num-node-list, node-feat,
// node-label and edge-feat (.csv or .csv.gz) or, for papers100M, data.npz and
// node-label.npz. Next to raw there is split/<scheme> with train, valid and test. Edges are
// directed as listed. One column of labels is a class, -1 or nan for none;
// several columns of 0 and 1 are multi-labels.
func openOGB(raw string) (*Stream, error) {
	root := filepath.Dir(filepath.Clean(raw))
	if err := checkOGB(root, raw); err != nil {
		return nil, err
	}
	open := openOGBTexts
	if exists(filepath.Join(raw, "data.npz")) && !exists(filepath.Join(raw, "edge.csv")) && !exists(filepath.Join(raw, "edge.csv.gz")) {
		open = openOGBBinary
	}
	s, err := open(raw)
	if err != nil {
		return nil, err
	}
	s.Data.Name, s.Data.Report.Form = filepath.Base(root), "OGB folder"
	if err := s.Data.warnOGB(raw); err != nil {
		return nil, err
	}
	return s, s.Data.ogbSplits(filepath.Join(root, "split"))
}

// checkOGB refuses sets of other kinds than node-property sets of one graph.
func checkOGB(root, raw string) error {
	const what = ": %s: of OGB only sets of one graph with labels of vertices (ogbn-…) are read. The ogb package loads others: d = PygLinkPropPredDataset(name); torch.save(d[0], \"graph.pt\"), or for graphs d = PygGraphPropPredDataset(name); " +
		"[torch.save([d[i] for i in d.get_idx_split()[k]], \"folder/\" + k + \".pt\") for k in (\"train\", \"valid\", \"test\")], and then --data folder"
	name := filepath.Base(root)
	for prefix, kind := range map[string]string{"ogbl": "a set of links to predict", "ogbg": "a set of graphs", "ogb_": "a set of the large-scale challenge", "mag240m": "a set of the large-scale challenge"} {
		if strings.HasPrefix(strings.ToLower(name), prefix) {
			return fmt.Errorf("%s"+what, root, kind)
		}
	}
	if isTypedOGB(raw) {
		return fmt.Errorf("%s: %w", raw, ErrSeveralTypes)
	}
	if links, _ := filepath.Glob(filepath.Join(root, "split", "*", "train.pt")); len(links) > 0 {
		return fmt.Errorf("%s"+what, links[0], "a set of links to predict")
	}
	return nil
}

// ogbFiles are the known files of raw.
var ogbFiles = []string{"edge.csv", "num-node-list.csv", "num-edge-list.csv", "node-feat.csv", "node-label.csv", "edge-feat.csv", "data.npz", "node-label.npz"}

func (d *Data) warnOGB(raw string) error {
	entries, err := os.ReadDir(raw)
	var unread []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".gz"); !slices.Contains(ogbFiles, name) && !strings.HasPrefix(name, ".") {
			unread = append(unread, e.Name())
		}
	}
	d.leaveOut(raw, unread)
	return err
}

// openOGBBinary reads the archives data.npz and node-label.npz, in pieces.
func openOGBBinary(raw string) (*Stream, error) {
	path := filepath.Join(raw, "data.npz")
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	list := z.Names()
	if err := z.Close(); err != nil {
		return nil, err
	}
	from := named{arrays: reopened{z, path}, names: otherwise(list, otherNames)}
	labels, err := openArchive(filepath.Join(raw, "node-label.npz"))
	if err != nil {
		return nil, err
	}
	defer labels.Close()
	a, err := labels.Archive.Read("node_label")
	if err != nil {
		return nil, err
	}
	from.make("labels", a)
	meta := npyMeta{}
	if n, err := optional(from, "num_nodes_list"); err != nil {
		return nil, err
	} else if n != nil {
		x, err := n.Int64s()
		if err == nil && (len(x) != 1 || x[0] < 1 || x[0] > math.MaxUint32) {
			err = fmt.Errorf("%s: %v vertices; only sets of one graph (ogbn-…) are read", n.Where(0), few(x))
		}
		if err != nil {
			return nil, err
		}
		meta.Vertices = int(x[0])
	}
	s, err := openArrays(from, meta, 0)
	if err != nil {
		return nil, err
	}
	s.Data.warnUnread(list, path, "", from.names, "num_nodes_list", "num_edges_list")
	return s, nil
}

func openOGBTexts(raw string) (*Stream, error) {
	d := &Data{}
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
	d.Edges = &chunk.Edges{V: int(nodes[0])}
	s := &Stream{Data: d}
	if err := s.ogbLinks(raw, [2]int{d.Edges.V, d.Edges.V}); err != nil {
		return nil, err
	}
	if err := checkVertexCount(uint64(d.Edges.V), s.E); err != nil {
		return nil, err
	}
	if err := s.ogbFeatures(raw); err != nil {
		return nil, err
	}
	return s, d.ogbLabels(raw)
}

// ogbLinks opens the edges in a folder, whose sources and destinations must be below the two numbers, and their features.
func (s *Stream) ogbLinks(dir string, below [2]int) error {
	edges, err := openText(filepath.Join(dir, "edge.csv"))
	if err != nil {
		return err
	}
	defer edges.Close()
	if err := edges.eachLine(func([]byte) error { s.E++; return nil }); err != nil {
		return err
	}
	s.Data.Edges.DataCols, err = textColumns(filepath.Join(dir, "edge-feat.csv"))
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return ogbEdges(dir, s, below, fn) }
	return err
}

// ogbFeatures opens the features of vertices in a folder, if there are any.
func (s *Stream) ogbFeatures(dir string) (err error) {
	d := s.Data
	if d.FeatureCols, err = textColumns(filepath.Join(dir, "node-feat.csv")); err != nil || d.FeatureCols == 0 {
		return err
	}
	s.EachRows = func(fn func([]float32) error) error {
		x, err := openFloats(filepath.Join(dir, "node-feat.csv"), d.FeatureCols)
		if err != nil {
			return err
		}
		defer x.Close()
		return x.each(d.Edges.V, "vertices", fn)
	}
	return nil
}

// ogbEdges reads edges and their features side by side.
func ogbEdges(raw string, s *Stream, below [2]int, fn func(*chunk.Edges) error) error {
	t, err := openText(filepath.Join(raw, "edge.csv"))
	if err != nil {
		return err
	}
	defer t.Close()
	all := s.Data.Edges
	p := &chunk.Edges{V: all.V, DataCols: all.DataCols}
	var data *floatRows
	if all.DataCols > 0 {
		if data, err = openFloats(filepath.Join(raw, "edge-feat.csv"), all.DataCols); err != nil {
			return err
		}
		defer data.Close()
	}
	done := 0
	flush := func() (err error) {
		if data != nil {
			if p.Data, err = data.next(p.Data[:0], p.E()); err != nil {
				return err
			}
			if len(p.Data) < p.E()*p.DataCols {
				return fmt.Errorf("%s: %d rows for %d edges", data.name, done+len(p.Data)/p.DataCols, s.E)
			}
		}
		done += p.E()
		err = fn(p)
		p.Src, p.Dst = p.Src[:0], p.Dst[:0]
		return err
	}
	err = scanEdges(t, func(src, dst uint64) error {
		if src >= uint64(below[0]) || dst >= uint64(below[1]) {
			text := fmt.Sprintf("edge %d,%d: vertex ids must be below %d", src, dst, below[0])
			if below[0] != below[1] {
				text += fmt.Sprintf(" and %d", below[1])
			}
			return errors.New(text)
		}
		p.Src, p.Dst = append(p.Src, uint32(src)), append(p.Dst, uint32(dst))
		if p.E() < pieceValues/(2+p.DataCols) {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && data != nil {
		err = data.ended(done, "edges")
	}
	return err
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
			if c > 1 {
				return fmt.Errorf("%s: row %d, column %d: multi-labels must be 0, 1, or nan where they are not known", t.name, i/d.Classes, i%d.Classes)
			}
			d.MultiLabels[i] = float32(c) // -1 is Unknown
		}
		d.Labels = nil
		d.sayUnknown(VertexLabels)
		return nil
	}
	if d.Classes, err = classCount(d.Labels); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// ogbSplits reads the splits in dir, which must have at most one scheme. Without a scheme there are no splits.
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
	return ogbSplit(d, filepath.Join(dir, schemes[0].Name()))
}

// ogbSplit reads the split in a folder.
func ogbSplit(d *Data, dir string) error {
	parts := []*[]uint32{&d.Train, &d.Val, &d.Test}
	for k, part := range []string{"train", "valid", "test"} {
		ids, name, err := tuInts(filepath.Join(dir, part+".csv"))
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
