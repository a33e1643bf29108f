package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// npyMeta is what is read of meta.json; 0 and "" mean unknown.
type npyMeta struct {
	Name     string `json:"name"`
	Vertices int    `json:"vertices"`
	Classes  int    `json:"classes"`
	Types    int    `json:"edge_types"`
}

// openNpyFolder reads dir/edges.npy, or PyG's edge_index.npy, and what stands beside
// it. meta.json, when there, gives the name and the numbers of vertices and classes,
// which arrays alone may leave open.
func openNpyFolder(dir string) (*Stream, error) {
	var meta npyMeta
	file := filepath.Join(dir, "meta.json")
	text, err := os.ReadFile(file)
	if err == nil {
		if err = json.Unmarshal(text, &meta); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	from := npyFolder(dir)
	list, names := from.Names(), map[string]string{}
	if !slices.Contains(list, "edges") {
		names = otherwise(list, otherNames)
	}
	s, err := openArrays(named{arrays: from, names: names}, meta)
	if err != nil {
		return nil, err
	}
	d := s.Data
	d.warnUnread(list, dir, ".npy", names)
	if d.Vertices.Names, err = readNames(filepath.Join(dir, namesFile), d.Edges.V); err != nil {
		return nil, err
	}
	if d.Name = meta.Name; d.Name == "" {
		d.Name = filepath.Base(filepath.Clean(dir))
	}
	d.Report.Form = ".npy folder"
	return s, nil
}

// namesFile of a folder holds the name of each vertex, under a heading.
const namesFile = "names.csv"

// readNames reads the names of v vertices; nil when there is no such file.
func readNames(path string, v int) ([]string, error) {
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
	if err == nil && len(names) != v {
		err = fmt.Errorf("%s: %d names for %d vertices", t.name, len(names), v)
	}
	return names, err
}
