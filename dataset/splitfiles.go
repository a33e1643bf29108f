package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
)

// A split in files is a folder with train, val and test, each a table with a heading:
//
//	vertices  vertex               its id
//	graphs    graph                its number, from 0
//	edges     edge,source,target   its number in the order of the data, from 0, and the ids of its ends
//	links     source,target,label  the ids of a pair, and 1 if it is an edge or 0 if it is none
//
// and, of links, messages (source,target): the edges that pass messages in training.

// WriteSplit writes the split of what k says, of links that of Targets.Links, as train.csv, val.csv and test.csv, and of links messages.csv,
// to the folder dir, which it makes, all or none. It is an error if dir has a split already.
func WriteSplit(dir string, d *Data, k LabelKind) (err error) {
	for _, stems := range append(partStems[:], []string{"messages"}) {
		if path := partFile(dir, stems...); path != "" {
			return fmt.Errorf("%s has a split already: %s", dir, filepath.Base(path))
		}
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o777); err != nil {
		return err
	}
	made, err := chunk.TempFolder(dir)
	if err != nil {
		return err
	}
	if err := writeParts(made, d, k); err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	if err := os.Rename(made, dir); err == nil { // dir is new or empty
		return nil
	}
	names, err := os.ReadDir(made)
	for _, x := range names {
		err = errors.Join(err, os.Rename(filepath.Join(made, x.Name()), filepath.Join(dir, x.Name())))
	}
	return errors.Join(err, os.RemoveAll(made))
}

// writeParts writes the files of a split to a new folder.
func writeParts(dir string, d *Data, k LabelKind) error {
	heading, row := splitRows(d, k)
	for i, part := range d.Splits(k) {
		n, line := len(part), func(j int) string { return row(part[j]) }
		if l := d.Targets.Links; k == LinkLabels {
			has, not := []*Pairs{&l.Train, &l.Val, &l.Test}[i], []*Pairs{{}, &l.NotVal, &l.NotTest}[i]
			n, line = has.Len()+not.Len(), func(j int) string {
				if j < has.Len() {
					return endsText(d, has.Src[j], has.Dst[j]) + ",1"
				}
				return endsText(d, not.Src[j-has.Len()], not.Dst[j-has.Len()]) + ",0"
			}
		}
		if err := writeLines(filepath.Join(dir, partStems[i][0]+".csv"), heading, n, line); err != nil {
			return err
		}
	}
	if k != LinkLabels {
		return nil
	}
	e := EdgePairs(d, false)
	return writeLines(filepath.Join(dir, "messages.csv"), "source,target", e.Len(), func(i int) string { return endsText(d, e.Src[i], e.Dst[i]) })
}

// splitRows is the heading of the files of a split, and the row of a vertex, edge or graph.
func splitRows(d *Data, k LabelKind) (heading string, row func(i uint32) string) {
	switch k {
	case EdgeLabels:
		e := EdgePairs(d, false)
		return "edge,source,target", func(i uint32) string { return strconv.Itoa(int(i)) + "," + endsText(d, e.Src[i], e.Dst[i]) }
	case GraphLabels:
		return "graph", func(i uint32) string { return strconv.Itoa(int(i)) }
	case LinkLabels:
		return "source,target,label", nil
	}
	return "vertex", func(i uint32) string { return quoted(d.ID(int(i))) }
}

// endsText is the ids of the two vertices of a pair as fields of a table.
func endsText(d *Data, u, v uint32) string { return quoted(PairID(d, u)) + "," + quoted(PairID(d, v)) }

// quoted is a field of a table.
func quoted(text string) string {
	if !strings.ContainsAny(text, ",;\t \"\r\n#%") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// writeLines writes a heading and n lines; without lines no file.
func writeLines(path, heading string, n int, line func(i int) string) error {
	if n == 0 {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, heading)
	for i := range n {
		w.WriteString(line(i))
		w.WriteByte('\n')
	}
	return errors.Join(w.Flush(), f.Sync(), f.Close())
}

// partFile is the file of a part of a split in dir, "" without.
func partFile(dir string, stems ...string) string {
	for _, stem := range stems {
		for _, ending := range []string{".csv", ".tsv", ".txt", ".npy"} {
			for _, packed := range []string{"", ".gz", ".bz2"} {
				if path := filepath.Join(dir, stem+ending+packed); exists(path) {
					return filepath.Join(dir, stem+ending)
				}
			}
		}
	}
	return ""
}

// partStems are the names, without endings, that the files of a split have.
var partStems = [3][]string{{"train"}, {"val", "valid"}, {"test"}}

// ReadSplit replaces the split of the vertices, edges or graphs of d by that in the files of dir, as WriteSplit writes them: tables (.csv, .tsv, .txt,
// also packed) or, of numbers, .npy. Files of edges may have the ends alone, if no two edges have the same. A heading may be missing, and so
// may val or test. Errors name the file and line.
func ReadSplit(dir string, d *Data, k LabelKind) error {
	if k == LinkLabels {
		return errors.New("links are read by ReadLinkSplit")
	}
	var parts [3][]uint32
	for i, stems := range partStems {
		path := partFile(dir, stems...)
		if path == "" {
			if i == 0 {
				return fmt.Errorf("%s: no train.csv (.tsv, .txt, .npy): a split is a folder with train, val and test", dir)
			}
			continue
		}
		ids, err := readPart(d, path, k)
		if err != nil {
			return err
		}
		slices.Sort(ids)
		parts[i] = ids
	}
	forgetSplit(d, k)
	for i, to := range d.parts(k) {
		*to = parts[i]
	}
	d.settleSplits(k)
	d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("the split of %s is that in %s", k.Plural(), dir))
	return nil
}

// readPart reads a part of a split.
func readPart(d *Data, path string, k LabelKind) ([]uint32, error) {
	if k == VertexLabels {
		return ReadVertices(path, d)
	}
	_, n := d.labelsOf(k)
	table := &Data{Name: d.Name, Edges: &chunk.Edges{V: n}} // numbers from 0 on take the place of ids
	if filepath.Ext(path) == ".npy" || k == GraphLabels {
		ids, err := ReadVertices(path, table)
		if err != nil {
			return nil, fmt.Errorf("%w (numbers of %s, from 0)", err, k.Plural())
		}
		return ids, nil
	}
	return readEdges(path, d, table)
}

// readEdges reads numbers of edges, ends of edges, or both. numbers has as many vertices as there are edges.
func readEdges(path string, d, numbers *Data) (ids []uint32, err error) {
	x := endsOfPairs(d)
	f, err := x.file(path, []string{"edge"}, 1, 2, 3)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if n := len(f.columns); n > 1 {
		if err := errors.Join(f.endsAt(n-2, n-1), x.swapped(f, n-2, n-1)); err != nil {
			return nil, err
		}
	}
	count, e, at := numbers.finder(), EdgePairs(d, false), map[[2]uint32][]uint32{}
	for i, u := range e.Src {
		p := [2]uint32{u, e.Dst[i]}
		at[p] = append(at[p], uint32(i))
	}
	err = f.eachRow(func(row [][]byte) error {
		var p [2]uint32
		for i, id := range row[min(1, len(row)%2):] { // the ends, where there are any
			if p[i], err = x.find(i, id); err != nil {
				return f.errorf("%w", err)
			}
		}
		if len(row) == 2 {
			switch own := at[p]; len(own) {
			case 0:
				return f.errorf("%s is no edge of the graph", endsText(d, p[0], p[1]))
			case 1:
				ids = append(ids, own[0])
			default:
				return f.errorf("%d edges join %s: a first column with their numbers (edge,source,target) says which", len(own), endsText(d, p[0], p[1]))
			}
			return nil
		}
		i, err := count.find(row[0], numbers.Edges.V)
		if err != nil {
			return f.errorf("edge %s: there are %d, numbered from 0", row[0], numbers.Edges.V)
		}
		if len(row) == 3 && (e.Src[i] != p[0] || e.Dst[i] != p[1]) {
			return f.errorf("edge %d joins %s in the data, and %s here: the split is of other data, or of another order of the edges", i, endsText(d, e.Src[i], e.Dst[i]), endsText(d, p[0], p[1]))
		}
		ids = append(ids, i)
		return nil
	})
	return ids, err
}

// ReadLinkSplit reads a split of links of d from the files of dir, as WriteSplit writes them. Files of two columns have edges only. Pairs without an edge
// for training are left out, as training draws its own: dropped says how many. Without a file for training or for messages see LinkSplit.
func ReadLinkSplit(dir string, d *Data) (s *LinkSplit, dropped int, err error) {
	s = &LinkSplit{}
	none := &Pairs{}
	for i, to := range [][2]*Pairs{{&s.Train, none}, {&s.Val, &s.NotVal}, {&s.Test, &s.NotTest}} {
		path := partFile(dir, partStems[i]...)
		if path == "" {
			if i == 2 {
				return nil, 0, fmt.Errorf("%s: no test.csv (.tsv, .txt): a split of links is a folder with train, val and test", dir)
			}
			continue
		}
		if err := readLinkFile(d, path, to[0], to[1]); err != nil {
			return nil, 0, err
		}
	}
	if path := partFile(dir, "messages"); path != "" {
		if err := readLinkFile(d, path, &s.Messages, none); err != nil {
			return nil, 0, err
		}
	}
	return s, none.Len(), nil
}

// readLinkFile reads pairs of ids with a label, or without.
func readLinkFile(d *Data, path string, has, not *Pairs) error {
	x := endsOfPairs(d)
	f, err := x.file(path, nil, 2, 3)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := errors.Join(f.endsAt(0, 1), x.swapped(f, 0, 1)); err != nil {
		return err
	}
	return f.eachRow(func(row [][]byte) error {
		to := has
		if len(row) == 3 {
			switch y, err := strconv.ParseFloat(string(bytes.TrimSpace(row[2])), 64); {
			case err != nil || y != 0 && y != 1:
				return f.errorf("label %.40q of a pair: 1 for an edge or 0 for none", row[2])
			case y == 0:
				to = not
			}
		}
		u, err := x.find(0, row[0])
		v, no := x.find(1, row[1])
		if err = errors.Join(err, no); err != nil {
			return f.errorf("%w", err)
		}
		to.add(u, v)
		return nil
	})
}
