package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/internal/regular"
	"sagann/internal/words"
)

// Open returns the data called name: "karate", "synthetic", or
// "synthetic:" with a spec for ParseSpec. Every other name is a path for Load. To
// load a file with one of these names, write ./karate.
func Open(name string, opt Options) (*Data, error) {
	kind, spec, _ := strings.Cut(name, ":")
	switch {
	case name == "karate":
		return opt.generated(Karate())
	case kind == "synthetic":
		s, err := ParseSpec(spec)
		if err != nil {
			return nil, err
		}
		d, err := Synthetic(s)
		if err != nil {
			return nil, err
		}
		return opt.generated(d)
	}
	return Load(name, opt)
}

// generated is d, whose edges are rearranged as asked.
func (o *Options) generated(d *Data) (*Data, error) {
	o.idleRelabel(d)
	if err := o.idleMask(d.Name, 0); err != nil {
		return nil, err
	}
	if o.Undirected || o.Simple {
		return finish(d, d.Name, *o)
	}
	return d, o.sparse(d)
}

// Load reads the graph at path. It recognises:
//   - a folder with edges.npy (and features, labels, train, …, see
//     WriteNpyFolder) or PyG's edge_index.npy, Planetoid files ind.*, TU text files
//     *_A.txt, an OGB set (its root or its folder raw, as text files or data.npz), or exactly one
//     of the files below; with an edge list, arrays in the folder are read too, as .npy files or as texts
//     (features.csv);
//   - a file: .npz, PyG's .pt, .mat, .mtx, or an edge list .txt, .csv, .tsv, .edges,
//     .edgelist, .ungraph; all text files also with .gz;
//   - the project's own store.
//
// In a folder, .npy files have precedence over other formats, and then files in its folder raw.
// Several other formats in one folder are an error that lists them. The result has
// passed Validate. Errors name the file and the line or byte.
func Load(path string, opt Options) (*Data, error) {
	if IsShards(path) {
		if err := shardsFor(path, &opt); err != nil {
			return nil, err
		}
		return OpenShards(path, opt.Rank, opt.Ranks)
	}
	if dir, name := filepath.Split(path); strings.HasPrefix(name, "shard") && filepath.Ext(name) == ".saga" && IsShards(dir) {
		return nil, fmt.Errorf("%s is one shard of a graph; name the folder %s", path, filepath.Clean(dir))
	}
	s, err := open(path, opt)
	if err != nil {
		return nil, err
	}
	d, err := s.collect(opt)
	if err != nil {
		return nil, err
	}
	return finish(d, path, opt)
}

// shardsFor is an error if what asks for shards cannot use them.
func shardsFor(path string, opt *Options) error {
	switch {
	case opt.Ranks == 0:
		return fmt.Errorf("%s holds the shards of a graph, which only training reads; name the graph that they were made of (--data)", path)
	case opt.Undirected || opt.Simple:
		return fmt.Errorf("%s holds the shards of a graph, whose edges stay as they are", path)
	}
	return nil
}

// open finds out the format of path and opens it.
func open(path string, opt Options) (*Stream, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if d, ok, err := loadStore(path, opt); err != nil || ok {
		if err == nil {
			err = opt.idleMask(path, 0)
			opt.idleRelabel(d)
			if opt.Vertices == VertexClasses {
				labelsOfColumns(d)
			}
		}
		return held(d, err)
	}
	read := openFile
	if info.IsDir() {
		read = openFolder
	}
	s, err := read(path, opt)
	if err != nil {
		return nil, err
	}
	s.Data.settle()
	if opt.Vertices == VertexClasses && s.Data.Schema.Features.Labels != "" { // a folder of arrays that was written of a TU set
		d, err := s.collect(opt)
		if err != nil {
			return nil, err
		}
		labelsOfColumns(d)
		s = streamOf(d)
	}
	if s.Data.Report.Form != edgeListForm {
		opt.idleRelabel(s.Data)
	}
	return s, opt.idleMask(path, s.Data.Report.Masks)
}

// held is the Stream of data in memory, or the error.
func held(d *Data, err error) (*Stream, error) {
	if err != nil {
		return nil, err
	}
	return streamOf(d), nil
}

// finish checks what was read from path and rearranges the edges as asked.
func finish(d *Data, path string, opt Options) (*Data, error) {
	// Rearranging the edges needs valid data.
	if err := problem(d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if (opt.Undirected || opt.Simple) && d.Edges.E() > math.MaxUint32/2 {
		return nil, fmt.Errorf("%s: %d edges are too many to rearrange in memory", path, d.Edges.E())
	}
	if (opt.Undirected || opt.Simple) && d.Labelled(EdgeLabels) {
		return nil, fmt.Errorf("%s: the edges have labels or targets and cannot be rearranged", path)
	}
	if opt.Undirected {
		before := d.Edges.E()
		d.Edges = d.Edges.Symmetric()
		if d.Edges.Time != nil {
			d.Report.Changes = append(d.Report.Changes, "reverse edges have the times of their edges: an edge whose reverse has another time got one")
		}
		d.change("%d reverse {edge was|edges were} added", d.Edges.E()-before)
	}
	if opt.Simple {
		before := d.Edges.E()
		d.Edges = Simplify(d.Edges)
		if d.Edges.Time != nil && d.Edges.E() < before {
			d.Report.Changes = append(d.Report.Changes, "of repeated edges the earliest was kept; their weights were summed whatever their times")
		}
		d.change("%d self loops and repeated edges were dropped, and edges were sorted", before-d.Edges.E())
	}
	d.warnScale(d.Features, 0)
	return d, opt.sparse(d)
}

func (d *Data) change(format string, n int) {
	d.Report.Changes = append(d.Report.Changes, words.Text(format, n))
}

func (d *Data) warn(format string, a ...any) {
	d.Report.Warnings = append(d.Report.Warnings, words.Text(format, a...))
}

// form is one graph that a folder holds.
type form struct {
	what string // for errors
	set  bool   // of several files
	open func() (*Stream, error)
}

// formsOf lists the forms in dir, or where it has none in its folders raw and processed, as PyG's data sets have them; sub is the folder, with a slash.
func formsOf(dir string, opt Options) (forms []form, sub string, err error) {
	forms, err = formsIn(dir, opt)
	if err != nil {
		return nil, "", err
	}
	if raw := filepath.Join(dir, "raw"); len(forms) == 0 && exists(raw) {
		if forms, err = formsIn(raw, opt); err != nil {
			return nil, "", err
		}
		sub = "raw/"
	}
	// What PyG has made of files that it downloaded, unless they are of a format of several files.
	if processed := filepath.Join(dir, "processed"); (len(forms) == 0 || sub != "" && !forms[0].set) && exists(processed) {
		made, err := formsIn(processed, opt)
		if err != nil {
			return nil, "", err
		}
		if made = slices.DeleteFunc(made, func(f form) bool { return filepath.Ext(f.what) != ".pt" }); len(made) > 0 {
			forms, sub = made, "processed/"
		}
	}
	return forms, sub, nil
}

// openFolder chooses among the forms in dir; see Load.
func openFolder(dir string, opt Options) (*Stream, error) {
	if exists(filepath.Join(dir, "edges.npy")) || exists(filepath.Join(dir, "edge_index.npy")) {
		return openNpyFolder(dir, opt)
	}
	if isTypedFolder(dir) {
		return nil, fmt.Errorf("%s: %w", dir, ErrSeveralTypes)
	}
	forms, sub, err := formsOf(dir, opt)
	if err != nil {
		return nil, err
	}
	switch len(forms) {
	case 0:
		return nil, fmt.Errorf("%s: no graph that is known: no edges.npy or edge_index.npy, ind.*, *_A.txt, edge.csv, data.npz, .npz, .pt, .mat, .mtx or edge list", dir)
	case 1:
		s, err := forms[0].open()
		if err == nil && sub != "" {
			s.Data.Name += " (" + sub + forms[0].what + ")"
		}
		return s, err
	}
	var list []string
	tables := ""
	for _, f := range forms {
		list = append(list, f.what)
		if slices.Contains(edgeListEndings, endingOf(f.what)) {
			tables = "; a table of edges and one of vertices: saga data convert --edges FILE --vertices FILE --features COLUMNS --label COLUMN --out graph.saga"
		}
	}
	return nil, fmt.Errorf("%s: several graphs, name one: %.400s%s", filepath.Join(dir, sub), strings.Join(list, ", "), tables)
}

// formsIn lists the graphs in dir itself, by name.
func formsIn(dir string, opt Options) ([]form, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var forms []form
	parts := partFiles(entries)
	if parts != nil {
		forms = append(forms, form{strings.Join(parts, ", "), false, func() (*Stream, error) { return held(loadParts(dir, parts, opt)) }})
	}
	planetoid := map[string]bool{}
	folder := false // a format of several files was found, so other text files are not edge lists
	for _, e := range entries {
		name := e.Name()
		plain := plainName(name)
		if rest, ok := strings.CutPrefix(name, "ind."); ok {
			// The part after the set's name, such as "allx" or "test.index", is the file's role.
			set, _, ok := strings.Cut(rest, ".")
			if ok && !planetoid[set] {
				planetoid[set] = true
				forms = append(forms, form{"ind." + set + ".*", true, func() (*Stream, error) { return held(loadPlanetoid(dir, set)) }})
			}
			folder = true
		} else if prefix, ok := strings.CutSuffix(plain, "_A.txt"); ok {
			forms = append(forms, form{name, true, func() (*Stream, error) { return held(loadTU(filepath.Join(dir, prefix), opt)) }})
			folder = true
		} else if plain == "edge.csv" || plain == "triplet-type-list.csv" || name == "data.npz" && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "node-label.npz" }) {
			forms = append(forms, form{name, true, func() (*Stream, error) { return openOGB(dir) }})
			folder = true
		}
	}
	if folder {
		return forms, nil
	}
	texts, err := textArrays(dir)
	if err != nil {
		return nil, err
	}
	ofGraph := slices.Collect(maps.Values(texts)) // features.csv and the like, which are not edge lists
	isList := func(e os.DirEntry) bool {
		return e.Type().IsRegular() && slices.Contains(edgeListEndings, endingOf(e.Name())) && isGraph(e.Name())
	}
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return isList(e) && e.Name() != namesFile && !slices.Contains(ofGraph, e.Name())
	}) {
		ofGraph = nil
	}
	arrays := len(ofGraph)+len(arraysBeside(dir)) > 0
	for _, e := range entries {
		if arrays && e.Name() == namesFile || slices.Contains(ofGraph, e.Name()) || slices.Contains(parts, e.Name()) {
			continue
		}
		if arrays && isList(e) {
			forms = append(forms, form{e.Name(), false, func() (*Stream, error) { return openListFolder(dir, e.Name(), opt) }})
		} else if e.Type().IsRegular() && isGraph(e.Name()) {
			forms = append(forms, form{e.Name(), false, func() (*Stream, error) { return openFile(filepath.Join(dir, e.Name()), opt) }})
		}
	}
	return forms, nil
}

// isGraph reports whether a file in a folder may be the folder's graph. A store is not, as it was
// made from another file, nor are the files that PyG writes beside its data.pt.
func isGraph(name string) bool {
	ending := endingOf(name)
	return ending != "" && ending != ".saga" && name != "pre_transform.pt" && name != "pre_filter.pt" &&
		!strings.HasPrefix(strings.ToLower(name), "readme")
}

const edgeListForm = "edge list"

// edgeListEndings are the endings of edge lists.
var edgeListEndings = []string{".txt", ".csv", ".tsv", ".edges", ".edgelist", ".ungraph"}

// endingOf is the ending of a known single file without .gz or .bz2, or "".
func endingOf(name string) string {
	name = strings.ToLower(name)
	ext := filepath.Ext(plainName(name))
	if slices.Contains(edgeListEndings, ext) || ext == ".mtx" {
		return ext
	}
	if ext = filepath.Ext(name); slices.Contains([]string{".npz", ".mat", ".pt", ".pth", ".saga"}, ext) {
		return ext
	}
	return ""
}

// openFile reads a single file by its ending.
func openFile(path string, opt Options) (s *Stream, err error) {
	form := ""
	switch ext := endingOf(path); ext {
	case "":
		if isSVMlight(path) {
			return nil, fmt.Errorf("%s: an SVMlight file has features and labels of vertices but no edges: saga data convert --edges EDGES.csv --vertices %s --out graph.saga", path, path)
		}
		s, err = openUnknown(path, opt)
		form = edgeListForm
	case ".npz":
		return openNpz(path, opt)
	case ".pt", ".pth":
		s, err = openPT(path, opt)
	case ".mat":
		form = "MATLAB file"
		s, err = held(loadMat(path))
	case ".mtx":
		form = "Matrix Market file"
		s, err = held(loadMTX(path))
	case ".saga":
		f, err := regular.Open(path) // it may not be readable
		if err != nil {
			return nil, err
		}
		f.Close()
		return nil, fmt.Errorf("%s: no store of this program: it does not begin with %s", path, storeMagic)
	default:
		return openEdgeList(path, opt.Relabel)
	}
	if err != nil {
		return nil, err
	}
	s.Data.Name = baseName(path)
	if form != "" {
		s.Data.Report.Form = form
	}
	return s, nil
}

func loadMTX(path string) (*Data, error) {
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return readMTX(t)
}

// isFile reports whether path is a file and no folder.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
