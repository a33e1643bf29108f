package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
	"sagann/internal/regular"
)

// maxTorchPickle is the largest data.pkl that is read, in bytes. It holds only names and shapes; the
// numbers are in other members of the archive.
const maxTorchPickle = 256 << 20

// legacyTorch is the beginning of a file that torch.save wrote in its old format, which is not a zip
// archive: a pickle of a magic number.
const legacyTorch = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

// openPT reads a file of torch.save: PyG's Data, a processed file of an InMemoryDataset, or a dictionary
// of tensors with PyG's names. It imports and calls nothing that the file
// names. Tensors are read from the archive in pieces.
func openPT(path string, opt Options) (*Stream, error) {
	f, err := openTorch(path)
	if err != nil {
		return nil, err
	}
	defer f.zip.Close()
	x, err := f.object()
	if err != nil {
		return nil, err
	}
	var graph, parts *pickle.Dict
	var from *torchArrays
	if three := linkSplitOf(x); three != nil {
		graph = three[2]
		from, err = linkSplit([]*torchFile{f, f, f}, three)
	} else if several := listOf(x); several != nil {
		from, err = f.joined(several)
	} else {
		if graph, parts, err = graphOf(x); err != nil {
			return nil, fmt.Errorf("%s: %w", f.pkl, err)
		}
		from, err = f.tensors(graph)
	}
	if err != nil {
		return nil, err
	}
	return from.graph(path, graph, parts, opt)
}

// graph is the graph, or several, of the arrays; path is for warnings, and parts are nil or the slices of several graphs.
func (a *torchArrays) graph(path string, graph, parts *pickle.Dict, opt Options) (*Stream, error) {
	list, pkl := a.Names(), a.file.pkl
	n := named{arrays: a, names: otherwise(list, otherNames)}
	if err := n.sparseTensors(a); err != nil {
		return nil, err
	}
	if n.made["edges"] == nil && !slices.Contains(list, n.theirs("edges")) {
		return nil, fmt.Errorf("%s: no edge_index; there are %.400q%s", pkl, list, hintAdj(graph))
	}
	if parts != nil {
		if err := n.batch(pkl, graph, parts, a); err != nil {
			return nil, err
		}
	}
	meta, err := n.vertices()
	if err != nil {
		return nil, err
	}
	s, err := openArrays(n, meta, opt.Mask)
	if err != nil {
		return nil, err
	}
	s.Data.warnUnread(list, path, "", n.names, "num_nodes", "ptr", "adj_t")
	s.Data.leaveOut(path, a.skipped)
	s.Data.Report.Form = "PyG's .pt"
	if a.left != "" {
		s.Data.Report.Changes = append(s.Data.Report.Changes, a.left)
	}
	return s, nil
}

// sparseTensors takes a sparse x as features, and a sparse adj_t as edges if there is no edge_index.
func (n *named) sparseTensors(from *torchArrays) error {
	for name, m := range from.sparse {
		where := from.file.pkl + ": " + name
		switch {
		case ourName(name) == "features" && n.attr == nil:
			n.attr, n.attrName = m, where
		case name == "adj_t" && !slices.Contains(from.names, "edge_index"): // row i has the sources of edges to i
			t, err := m.transposed()
			if err == nil {
				err = n.adjacency(t, npy.New(where, nil, []float32{}))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		case name != "adj_t":
			from.skipped = append(from.skipped, name)
		}
	}
	return nil
}

// torchFile is an archive of torch.save.
type torchFile struct {
	path string
	size int64
	zip  *regular.Zip
	pkl  string // "path: member", for errors
	root string // folder of the members in the archive
	big  bool   // big-endian
	at   map[string]*zip.File
}

func openTorch(path string) (*torchFile, error) {
	z, err := regular.OpenZip(path)
	if err != nil {
		if head := headOf(path, 64); bytes.Contains(head, []byte(legacyTorch)) {
			return nil, fmt.Errorf("%s: byte 0: written in torch's format of before version 1.6, which is not read: torch.save(torch.load(path, weights_only=False), path) writes it anew", path)
		}
		return nil, fmt.Errorf("%s: no archive of torch.save: %w", path, err)
	}
	f := &torchFile{path: path, size: z.Size, zip: z, at: map[string]*zip.File{}}
	for _, m := range z.File {
		if f.at[m.Name] == nil {
			f.at[m.Name] = m
		}
		root, ok := strings.CutSuffix(m.Name, "data.pkl")
		if !ok || root != "" && !strings.HasSuffix(root, "/") {
			continue
		}
		if f.pkl != "" {
			z.Close()
			return nil, fmt.Errorf("%s: two members are named data.pkl", path)
		}
		f.root, f.pkl = root, path+": "+m.Name
	}
	if f.pkl == "" {
		z.Close()
		return nil, fmt.Errorf("%s: no archive of torch.save: it has no member data.pkl", path)
	}
	if order, err := f.read("byteorder", 16); err == nil {
		f.big = string(order) == "big"
	}
	return f, nil
}

// headOf is the first n bytes of a file, or fewer if it is shorter.
func headOf(path string, n int) []byte {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, n)
	n, _ = io.ReadFull(f, head)
	return head[:n]
}

// member finds a member, and checks its size against that of the file.
func (f *torchFile) member(name string) (*zip.File, error) {
	if m := f.at[f.root+name]; m != nil {
		packed, unpacked := m.CompressedSize64, m.UncompressedSize64
		if packed > uint64(f.size) || unpacked/1032 > packed || m.Method == zip.Store && packed != unpacked {
			return nil, fmt.Errorf("%s: %s claims %d bytes, %d packed, in a file of %d", f.path, m.Name, unpacked, packed, f.size)
		}
		return m, nil
	}
	return nil, fmt.Errorf("%s: no member %s", f.path, f.root+name)
}

func (f *torchFile) read(name string, most uint64) ([]byte, error) {
	m, err := f.member(name)
	if err != nil {
		return nil, err
	}
	if m.UncompressedSize64 > most {
		return nil, fmt.Errorf("%s: %s of %d MiB; the most is %d MiB", f.path, m.Name, m.UncompressedSize64>>20, most>>20)
	}
	r, err := m.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.path, m.Name, err)
	}
	defer r.Close()
	b, err := regular.ReadMember(r, int64(m.UncompressedSize64))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.path, m.Name, err)
	}
	return b, nil
}

// object reads data.pkl.
func (f *torchFile) object() (any, error) {
	file, err := f.read("data.pkl", maxTorchPickle)
	if err != nil {
		return nil, err
	}
	x, _, err := pickle.ReadPacked(file, f.size, torchClass)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.pkl, err)
	}
	return x, nil
}

// torchClass reports whether a class is one that tensors and PyG's containers need.
func torchClass(c pickle.Class) bool {
	root, _, _ := strings.Cut(c.Module, ".")
	switch root {
	case "torch", "torch_geometric", "torch_sparse", "numpy":
		return root != "numpy" || arrayClass(c) || c.Module == "numpy" || strings.HasSuffix(c.Name, "scalar")
	case "builtins", "__builtin__":
		return slices.Contains([]string{"set", "frozenset", "list", "dict", "tuple", "bytes", "bytearray", "object", "int", "float", "slice"}, c.Name)
	}
	return arrayClass(c) || c.String() == "collections.OrderedDict"
}

// graphOf finds the attributes of a graph in the saved object and, if there are several graphs, the slices
// of each.
func graphOf(x any) (graph, parts *pickle.Dict, err error) {
	switch t := x.(type) {
	case pickle.Tuple:
		if len(t) >= 2 { // the tuple continues with sizes and the class
			graph, _, err = graphOf(t[0])
			ok := false
			if parts, ok = pickle.AsDict(t[1]); !ok && t[1] != nil {
				if strings.Contains(pickle.Kind(t[1]), "HeteroData") {
					return nil, nil, fmt.Errorf("a tuple of %d HeteroData: RandomLinkSplit of several types is not read; save the HeteroData that it was given, and saga train --task link --relation NAME draws a split, or takes edge_train, edge_val and edge_test of the relation (numbers of its edges)", len(t))
				}
				return nil, nil, fmt.Errorf("a tuple of %d, of which the second is a %s: (data, slices) is read, and a list [data, data] of graphs; and the three Data that RandomLinkSplit gives", len(t), pickle.Kind(t[1]))
			}
			return graph, parts, err
		}
		return nil, nil, fmt.Errorf("a tuple of %d; want (data, slices)", len(t))
	case *pickle.List:
		if len(t.Items) == 1 {
			return graphOf(t.Items[0])
		}
		return nil, nil, fmt.Errorf("a list of %d graphs where one should be", len(t.Items))
	case *pickle.Record:
		if isHetero(t) {
			return nil, nil, fmt.Errorf("%s: %w", t.Class.Name, ErrSeveralTypes)
		}
		state, ok := pickle.AsDict(t.State)
		if !ok {
			break
		}
		store, ok := state.Get("_store")
		if !ok {
			return state, nil, nil // PyG before 2.0
		}
		if r, ok := store.(*pickle.Record); ok {
			if state, ok = pickle.AsDict(r.State); ok {
				if mapping, ok := state.Get("_mapping"); ok {
					if d, ok := pickle.AsDict(mapping); ok {
						return d, nil, nil
					}
				}
			}
		}
		return nil, nil, fmt.Errorf("a %s without its attributes", t.Class)
	}
	if d, ok := pickle.AsDict(x); ok {
		if slices.ContainsFunc(d.Pairs, func(p pickle.Pair) bool { return tripleOf(p.Key) != nil }) {
			return nil, nil, fmt.Errorf("a dictionary of relations: %w", ErrSeveralTypes)
		}
		return d, nil, nil
	}
	return nil, nil, fmt.Errorf("a %s: want PyG's Data, (data, slices) or a dictionary of tensors", pickle.Kind(x))
}

// isHetero reports whether a record is PyG's HeteroData.
func isHetero(r *pickle.Record) bool {
	hetero := func(x any) bool { c, ok := x.(pickle.Class); return ok && strings.HasPrefix(c.Name, "Hetero") }
	return hetero(r.Class) || slices.ContainsFunc(r.Args, hetero)
}

// tripleOf is the names of source, relation and target if x is the key of a relation; otherwise nil.
func tripleOf(x any) []string {
	t, ok := x.(pickle.Tuple)
	if !ok || len(t) != 3 {
		return nil
	}
	var names []string
	for _, name := range t {
		text, ok := name.(string)
		if !ok {
			return nil
		}
		names = append(names, text)
	}
	return names
}

// hintAdj says what to do with graphs that PyG's ToSparseTensor has changed.
func hintAdj(graph *pickle.Dict) string {
	if graph == nil {
		return ""
	}
	if _, ok := graph.Get("adj_t"); ok {
		return "; an adj_t of torch_sparse is not read: save the data without ToSparseTensor"
	}
	return ""
}
