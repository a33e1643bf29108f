package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
	"sagann/internal/regular"
)

// npyMeta is the part of meta.json that is read; 0 and "" mean unknown.
type npyMeta struct {
	Name     string `json:"name"`
	Vertices int    `json:"vertices"`
	Classes  int    `json:"classes"`
	Types    int    `json:"edge_types"`

	Schema json.RawMessage `json:"schema"` // text of Schema.Text; nil: none
}

// maxMeta bounds meta.json, which names every class and relation.
const maxMeta = 64 << 20

// openNpyFolder reads dir/edges.npy, or PyG's edge_index.npy, and the other arrays in
// dir. meta.json, if it exists, has the name and the numbers of vertices and classes,
// which do not always follow from the arrays, and the schema.
func openNpyFolder(dir string, opt Options) (*Stream, error) {
	return openArraysIn(dir, nil, ".npy folder", opt)
}

// openArraysIn is openNpyFolder with arrays that were computed already, such as the edges.
func openArraysIn(dir string, made map[string]*npy.Array, form string, opt Options) (*Stream, error) {
	var meta npyMeta
	file := filepath.Join(dir, "meta.json")
	text, err := regular.ReadFile(file, maxMeta)
	if err == nil {
		if err = json.Unmarshal(text, &meta); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	texts, err := readNames(filepath.Join(dir, namesFile))
	if err != nil {
		return nil, err
	}
	if meta.Vertices == 0 {
		meta.Vertices = len(texts)
	}
	from := npyFolder(dir)
	list := from.Names()
	names := otherwise(list, otherNames)
	s, err := openArrays(named{arrays: from, names: names, made: made}, meta, opt.Mask)
	if err != nil {
		return nil, err
	}
	d := s.Data
	if meta.Schema != nil {
		kept, err := ParseSchema(string(meta.Schema))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		d.Schema = kept.named()
	}
	d.warnUnread(list, dir, ".npy", names)
	if d.Vertices.Names = texts; texts != nil && len(texts) != d.Edges.V {
		return nil, fmt.Errorf("%s: %d names for %d vertices", filepath.Join(dir, namesFile), len(texts), d.Edges.V)
	}
	if d.Name = meta.Name; d.Name == "" {
		d.Name = filepath.Base(filepath.Clean(dir))
	}
	d.Report.Form = form
	return s, nil
}

// arraysBeside lists the files in dir that have arrays of vertices or edges.
func arraysBeside(dir string) (files []string) {
	for _, name := range npyFolder(dir).Names() {
		known := slices.Contains(ourNames, name)
		for _, theirs := range otherNames {
			known = known || slices.Contains(theirs, name)
		}
		if known {
			files = append(files, name+".npy")
		}
	}
	return files
}

// warnBeside warns of arrays in the folder of an edge list. They are not read if the user names the edge list
// and not the folder.
func (d *Data) warnBeside(path string) {
	dir := filepath.Dir(path)
	files := arraysBeside(dir)
	if texts, err := textArrays(dir); err == nil && !slices.Contains(slices.Collect(maps.Values(texts)), filepath.Base(path)) {
		files = slices.Concat(files, slices.Sorted(maps.Values(texts)))
	}
	if len(files) > 0 && !slices.Contains(files, "edges.npy") && !slices.Contains(files, "edge_index.npy") {
		d.Report.Warnings = append(d.Report.Warnings, fmt.Sprintf("%s: %.400s beside it are not read; name the folder, %s, to read them, too", path, strings.Join(files, ", "), dir))
	}
}

// namesFile is the file of a folder that has a heading and then the name of each vertex.
const namesFile = "names.csv"

// readNames reads the names of vertices; nil when there is no such file.
func readNames(path string) ([]string, error) {
	t, err := openTable(path, tableOptions{heading: "yes"})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var names []string
	err = t.eachRow(func(row [][]byte) error {
		names = append(names, string(row[0]))
		return nil
	})
	return names, err
}
