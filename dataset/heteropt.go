package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// globalStore is where PyG keeps what belongs to no type.
const globalStore = "_global_store"

// openHeteroPT reads PyG's HeteroData, a processed file of one, or the dictionary that HeteroData.to_dict makes.
func openHeteroPT(path string, opt Options) (*heteroStream, error) {
	f, err := openTorch(path)
	if err != nil {
		return nil, err
	}
	defer f.zip.Close()
	x, err := f.object()
	if err != nil {
		return nil, err
	}
	stores, err := heteroStores(x)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.pkl, err)
	}
	var types []*typeArrays
	var relations []*relationArrays
	var skipped []string
	ofOneType(stores)
	for _, s := range stores {
		if s.name == globalStore {
			for _, p := range s.arrays.Pairs {
				if name, ok := p.Key.(string); ok && !strings.HasPrefix(name, "_") {
					skipped = append(skipped, name)
				}
			}
			continue
		}
		from, err := f.tensors(s.arrays)
		if err != nil {
			return nil, fmt.Errorf("%w, of %.120q", err, s.title())
		}
		for i, name := range from.skipped {
			from.skipped[i] = s.title() + ": " + name
		}
		if skipped = append(skipped, from.skipped...); s.ends == nil {
			types = append(types, f.typeOf(s.name, from))
			continue
		}
		r, err := f.relationOf(s.ends, from)
		if err != nil {
			return nil, err
		}
		relations = append(relations, r)
	}
	out, err := openTyped(f.pkl, types, relations, opt)
	if err != nil {
		return nil, err
	}
	out.h.Name = baseName(path)
	whole := &Data{}
	whole.leaveOut(path, skipped)
	out.h.Report.Warnings = whole.Report.Warnings
	return out.settled(path, "PyG's HeteroData", opt)
}

// ofOneType gives the splits, and their labels, that belong to no type to the only type: the knowledge graphs of PyG's Entities have them there.
func ofOneType(stores []heteroStore) {
	whole, only, types := -1, -1, 0
	for i := range stores {
		switch {
		case stores[i].name == globalStore:
			whole = i
		case stores[i].ends == nil:
			only, types = i, types+1
		}
	}
	if whole < 0 || types != 1 {
		return
	}
	var rest []pickle.Pair
	of := slices.Clone(stores[only].arrays.Pairs)
	for _, p := range stores[whole].arrays.Pairs {
		if slices.Contains([]any{"train_idx", "train_y", "val_idx", "val_y", "test_idx", "test_y"}, p.Key) {
			of = append(of, p)
		} else {
			rest = append(rest, p)
		}
	}
	stores[whole].arrays, stores[only].arrays = &pickle.Dict{Pairs: rest}, &pickle.Dict{Pairs: of}
}

// heteroStore is the attributes of one type, of one relation (then ends has its three names) or of the whole.
type heteroStore struct {
	name   string
	ends   []string
	arrays *pickle.Dict
}

func (s *heteroStore) title() string {
	if s.ends != nil {
		return strings.Join(s.ends, ":")
	}
	return s.name
}

// heteroStores finds the attributes of types and relations in the saved object.
func heteroStores(x any) ([]heteroStore, error) {
	switch t := x.(type) {
	case pickle.Tuple: // of a processed file: what to_dict makes, slices, the class
		if len(t) < 2 || t[1] != nil {
			return nil, errors.New("several graphs, each of several types: only one such graph is read; torch.save(dataset[0], \"graph.pt\") writes one")
		}
		return heteroStores(t[0])
	case *pickle.List:
		if len(t.Items) == 1 {
			return heteroStores(t.Items[0])
		}
		return nil, fmt.Errorf("a list of %d graphs with several types: only one such graph is read", len(t.Items))
	case *pickle.Record:
		if isHetero(t) {
			return recordStores(t)
		}
	}
	d, ok := pickle.AsDict(x)
	if !ok {
		return nil, fmt.Errorf("a %s: want PyG's HeteroData or the dictionary of its to_dict()", pickle.Kind(x))
	}
	return dictStores(d.Pairs)
}

// recordStores finds them in a HeteroData.
func recordStores(r *pickle.Record) (list []heteroStore, err error) {
	state, ok := pickle.AsDict(r.State)
	if !ok {
		return nil, fmt.Errorf("a %s without its attributes", r.Class)
	}
	for _, key := range []string{globalStore, "_node_store_dict", "_edge_store_dict"} {
		value, _ := state.Get(key)
		pairs := []pickle.Pair{{Key: key, Value: value}}
		if key != globalStore {
			d, ok := pickle.AsDict(value)
			if !ok {
				return nil, fmt.Errorf("a %s without %s", r.Class, key)
			}
			pairs = d.Pairs
		} else if value == nil {
			continue
		}
		more, err := dictStores(pairs)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// dictStores finds them in a dictionary of stores, or of their attributes.
func dictStores(pairs []pickle.Pair) (list []heteroStore, err error) {
	for _, p := range pairs {
		s := heteroStore{ends: tripleOf(p.Key)}
		name, ok := p.Key.(string)
		if s.name = name; !ok && s.ends == nil {
			return nil, fmt.Errorf("a %s where the name of a type, or (source, relation, target), should be", pickle.Kind(p.Key))
		}
		if s.arrays, ok = pickle.AsDict(p.Value); !ok {
			if s.arrays, ok = mappingOf(p.Value); !ok {
				return nil, fmt.Errorf("%.120q is a %s, no type and no relation with its attributes", s.title(), pickle.Kind(p.Value))
			}
		}
		same := func(o heteroStore) bool { return o.name == s.name && slices.Equal(o.ends, s.ends) }
		if list = slices.DeleteFunc(list, same); len(list) > 2*MaxTypes {
			return nil, fmt.Errorf("more than %d types and relations", 2*MaxTypes)
		}
		list = append(list, s)
	}
	return list, nil
}

// mappingOf is the attributes in a storage of PyG.
func mappingOf(x any) (*pickle.Dict, bool) {
	r, ok := x.(*pickle.Record)
	if !ok {
		return nil, false
	}
	state, ok := pickle.AsDict(r.State)
	if !ok {
		return nil, false
	}
	mapping, _ := state.Get("_mapping")
	return pickle.AsDict(mapping)
}

func (f *torchFile) typeOf(name string, from *torchArrays) *typeArrays {
	t := &typeArrays{name: name, where: f.pkl + ": " + name, list: from.names, from: rowsNamed(from)}
	for attr, m := range from.sparse {
		if ourName(attr) == "features" && t.from.attr == nil {
			t.from.attr, t.from.attrName = m, t.where+": "+attr
		} else {
			t.list = append(t.list, attr)
		}
	}
	return t
}

// relationOf is a relation with its arrays. Without edge_index, the edges are those of a sparse adj_t, whose rows are targets.
func (f *torchFile) relationOf(ends []string, from *torchArrays) (*relationArrays, error) {
	r := &relationArrays{source: ends[0], name: ends[1], target: ends[2], list: from.names, from: linksNamed(from)}
	r.where = f.pkl + ": " + r.fullName()
	for attr, m := range from.sparse {
		if attr != "adj_t" || slices.Contains(from.names, "edge_index") {
			r.list = append(r.list, attr)
			continue
		}
		t, err := m.transposed()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", r.where, attr, err)
		}
		r.from.links(t, npy.New(r.where+": "+attr, nil, []float32{}))
	}
	return r, nil
}
