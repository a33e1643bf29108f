package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Open returns the data that name stands for: "karate", "synthetic", or
// "synthetic:" with a spec for ParseSpec; every other name is a path for Load. A
// file of one of these names is reached as ./karate.
func Open(name string, opt Options) (*Data, error) {
	kind, spec, _ := strings.Cut(name, ":")
	switch {
	case name == "karate":
		return Karate(), nil
	case kind == "synthetic":
		s, err := ParseSpec(spec)
		if err != nil {
			return nil, err
		}
		return Synthetic(s)
	}
	return Load(name, opt)
}

// Load reads the graph at path and recognises what it is given:
//   - a folder with edges.npy (and features, labels, train, …, see
//     WriteNpyFolder), Planetoid files ind.*, TU text files *_A.txt, an OGB set
//     (its root or its folder raw), or one single file of those below;
//   - a file: .npz, .mat, .mtx, or an edge list .txt, .csv, .tsv, .edges,
//     .edgelist, .ungraph, all texts also with .gz;
//   - the project's own store.
//
// In a folder .npy files win over other forms, then what its folder raw holds
// counts; several forms side by side are an error that lists them. The result has
// passed Validate. Errors name the file and the line or byte.
func Load(path string, opt Options) (*Data, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	d, ok, err := loadStore(path)
	if err == nil && !ok {
		if info.IsDir() {
			d, err = loadFolder(path, opt)
		} else {
			d, err = loadFile(path, opt)
		}
	}
	if err != nil {
		return nil, err
	}
	// Before the edges are rearranged, and so that they may be.
	if err := Validate(d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if (opt.Undirected || opt.Simple) && d.Edges.E() > math.MaxUint32/2 {
		return nil, fmt.Errorf("%s: %d edges are too many to rearrange in memory", path, d.Edges.E())
	}
	if (opt.Undirected || opt.Simple) && d.EdgeLabels != nil {
		return nil, fmt.Errorf("%s: the edges have labels and cannot be rearranged", path)
	}
	if opt.Undirected {
		d.Edges = d.Edges.Symmetric()
	}
	if opt.Simple {
		d.Edges = Simplify(d.Edges)
	}
	return d, nil
}

// form is one graph that a folder holds.
type form struct {
	what string // for errors
	load func() (*Data, error)
}

// loadFolder chooses among the forms in dir; see Load.
func loadFolder(dir string, opt Options) (*Data, error) {
	if exists(filepath.Join(dir, "edges.npy")) {
		return loadNpyFolder(dir)
	}
	forms, err := formsIn(dir, opt)
	if err != nil {
		return nil, err
	}
	raw := filepath.Join(dir, "raw")
	nested := len(forms) == 0 && exists(raw)
	if nested {
		if forms, err = formsIn(raw, opt); err != nil {
			return nil, err
		}
	}
	switch len(forms) {
	case 0:
		return nil, fmt.Errorf("%s: no graph that is known: no edges.npy, ind.*, *_A.txt, edge.csv, .npz, .mat, .mtx or edge list", dir)
	case 1:
		d, err := forms[0].load()
		if err == nil && nested {
			d.Name += " (raw/" + forms[0].what + ")"
		}
		return d, err
	}
	var list []string
	for _, f := range forms {
		list = append(list, f.what)
	}
	return nil, fmt.Errorf("%s: several graphs, name one: %s", dir, strings.Join(list, ", "))
}

// formsIn lists the graphs right in dir, by name.
func formsIn(dir string, opt Options) ([]form, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var forms []form
	planetoid := map[string]bool{}
	folder := false // a format of several files was found: its files are no edge lists
	for _, e := range entries {
		name := e.Name()
		plain := strings.TrimSuffix(name, ".gz")
		if rest, ok := strings.CutPrefix(name, "ind."); ok {
			// The part after the last dot but "test.index" names the file's role.
			set, _, ok := strings.Cut(rest, ".")
			if ok && !planetoid[set] {
				planetoid[set] = true
				forms = append(forms, form{"ind." + set + ".*", func() (*Data, error) { return loadPlanetoid(dir, set) }})
			}
			folder = true
		} else if prefix, ok := strings.CutSuffix(plain, "_A.txt"); ok {
			forms = append(forms, form{name, func() (*Data, error) { return loadTU(filepath.Join(dir, prefix)) }})
			folder = true
		} else if plain == "edge.csv" {
			forms = append(forms, form{name, func() (*Data, error) { return loadOGB(dir) }})
			folder = true
		}
	}
	if folder {
		return forms, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && endingOf(e.Name()) != "" && !strings.HasPrefix(strings.ToLower(e.Name()), "readme") {
			forms = append(forms, form{e.Name(), func() (*Data, error) { return loadFile(filepath.Join(dir, e.Name()), opt) }})
		}
	}
	return forms, nil
}

// edgeListEndings are the endings of edge lists.
var edgeListEndings = []string{".txt", ".csv", ".tsv", ".edges", ".edgelist", ".ungraph"}

// endingOf is the ending of a known single file without .gz, or "".
func endingOf(name string) string {
	name = strings.ToLower(name)
	ext := filepath.Ext(strings.TrimSuffix(name, ".gz"))
	if slices.Contains(edgeListEndings, ext) || ext == ".mtx" {
		return ext
	}
	if ext = filepath.Ext(name); ext == ".npz" || ext == ".mat" {
		return ext
	}
	return ""
}

// loadFile reads a single file by its ending.
func loadFile(path string, opt Options) (d *Data, err error) {
	switch ext := endingOf(path); ext {
	case "":
		return nil, fmt.Errorf("%s: unknown ending; known are .npz, .mat, .mtx, %s", path, strings.Join(edgeListEndings, ", "))
	case ".npz":
		d, err = loadNpz(path)
	case ".mat":
		d, err = loadMat(path)
	case ".mtx":
		t, openErr := openText(path)
		if openErr != nil {
			return nil, openErr
		}
		defer t.Close()
		d = &Data{}
		d.Edges, err = readMTX(t)
	default:
		d = &Data{}
		d.Edges, d.IDs, err = ReadEdgeList(path, opt.Relabel)
	}
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	d.Name = strings.TrimSuffix(name, filepath.Ext(name))
	return d, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
