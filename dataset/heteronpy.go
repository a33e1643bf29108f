package dataset

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
)

// openHeteroNpz reads an archive with arrays paper.x and author__writes__paper.edge_index.
func openHeteroNpz(path string, opt Options) (*heteroStream, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return openTypedArrays(reopened{z, path}, nil, path, ".npz of types", opt)
}

// openHeteroFolder reads a folder with such arrays as .npy files, in folders paper/x.npy or as paper.x.npy.
func openHeteroFolder(dir string, opt Options) (*heteroStream, error) {
	sparse := sparseBeside(dir)
	s, err := openTypedArrays(typedFolder(dir), sparse, dir, ".npy folders of types", opt)
	if err != nil {
		return nil, err
	}
	s.h.Name = filepath.Base(filepath.Clean(dir))
	whole := &Data{}
	whole.leaveOut(dir, typedFolder(dir).others(sparse))
	s.h.Report.Warnings = append(s.h.Report.Warnings, whole.Report.Warnings...)
	return s, nil
}

// others lists the files and folders that are neither arrays, nor among those with sparse features, nor folders of arrays.
func (f typedFolder) others(sparse map[string]string) (idle []string) {
	used := slices.Collect(maps.Values(sparse))
	var look func(dir, under string)
	look = func(dir, under string) {
		entries, _ := os.ReadDir(dir) // one that cannot be listed has no arrays
		for _, e := range entries {
			name, path := e.Name(), filepath.Join(dir, e.Name())
			info, err := os.Stat(path)
			switch folder := err == nil && info.IsDir(); {
			case strings.HasPrefix(name, ".") || !folder && filepath.Ext(name) == ".npy" || slices.Contains(used, path):
			case folder && under == "":
				look(path, name+"/")
			default:
				idle = append(idle, under+name)
			}
		}
	}
	look(filepath.Clean(string(f)), "")
	return idle
}

// sparseBeside lists files of scipy.sparse.save_npz with features: paper/x.npz or paper.x.npz, by type.
func sparseBeside(dir string) map[string]string {
	files := map[string]string{}
	for _, name := range append([]string{"features"}, otherNames["features"]...) {
		for _, between := range []string{".", string(filepath.Separator)} {
			found, _ := filepath.Glob(filepath.Join(escaped(dir), "*"+between+name+".npz"))
			for _, path := range found {
				rest := strings.TrimPrefix(path, filepath.Clean(dir)+string(filepath.Separator))
				if of := strings.TrimSuffix(rest, between+name+".npz"); files[of] == "" {
					files[of] = path
				}
			}
		}
	}
	return files
}

// escaped is a path in which no character has a meaning for Glob.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// typedFolder is the arrays of a folder and of the folders in it, as folder/array.
type typedFolder string

// Open opens an array.
func (f typedFolder) Open(name string) (*npy.Reader, error) { return npyFolder(f).Open(name) }

// Size is the size of its file.
func (f typedFolder) Size(name string) int64 { return npyFolder(f).Size(name) }

// Names lists the arrays.
func (f typedFolder) Names() (names []string) {
	entries, _ := os.ReadDir(string(f)) // a folder that cannot be listed has no arrays
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(string(f), e.Name()))
		if err != nil || !info.IsDir() {
			continue
		}
		for _, name := range npyFolder(filepath.Join(string(f), e.Name())).Names() {
			names = append(names, e.Name()+"/"+name)
		}
	}
	return append(names, npyFolder(f).Names()...)
}

// grouped is the arrays of one type or relation among those of a file. from are their names there.
type grouped struct {
	arrays
	names []string
	from  map[string]string
}

// Names lists the arrays.
func (g *grouped) Names() []string { return g.names }

// Open opens an array.
func (g *grouped) Open(name string) (*npy.Reader, error) {
	full, ok := g.from[name]
	if !ok {
		return nil, fmt.Errorf("array %s: %w", name, fs.ErrNotExist)
	}
	return g.arrays.Open(full)
}

// Size is the size of an array.
func (g *grouped) Size(name string) int64 { return g.arrays.Size(g.from[name]) }

// groups sorts arrays by what they are of. rest are those of nothing.
func groups(from arrays, path string) (of map[string]*grouped, order, rest []string, err error) {
	of = map[string]*grouped{}
	for _, full := range from.Names() {
		name, array, ok := typedName(full)
		if !ok {
			rest = append(rest, full)
			continue
		}
		g := of[name]
		if g == nil {
			g = &grouped{arrays: from, from: map[string]string{}}
			of[name], order = g, append(order, name)
		}
		if other, ok := g.from[array]; ok {
			return nil, nil, nil, fmt.Errorf("%s: %.80q and %.80q are the same array", path, other, full)
		}
		g.names, g.from[array] = append(g.names, array), full
	}
	slices.Sort(order)
	return of, order, rest, nil
}

// openTypedArrays reads arrays by the names that tell of which type or relation they are, and files with sparse features
// by type. A type that relations name and that has no arrays has as many vertices as the ends of edges say.
func openTypedArrays(from arrays, sparse map[string]string, path, form string, opt Options) (*heteroStream, error) {
	of, order, rest, err := groups(from, path)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(sparse)) {
		if of[name] == nil {
			of[name], order = &grouped{arrays: from}, append(order, name)
		}
	}
	var types []*typeArrays
	var relations []*relationArrays
	known := map[string]bool{}
	isRelation := func(name string) bool {
		g := of[name]
		return g.from["edge_index"] != "" || g.from["edges"] != ""
	}
	for _, name := range order {
		ends, err := relationNames(name, func(string) bool { return false })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !isRelation(name) && ends == nil {
			known[name] = true
			t := &typeArrays{name: name, where: path + ": " + name, list: of[name].names, from: rowsNamed(of[name])}
			if file, ok := sparse[name]; ok {
				if dense := t.from.theirs("features"); of[name].from[dense] != "" {
					return nil, fmt.Errorf("%s: vertices of type %.40q have features in %s, too", file, name, of[name].from[dense]+".npy")
				}
				if t.from.attr, err = savedMatrix(file); err != nil {
					return nil, err
				}
				t.from.attrName = file
			}
			types = append(types, t)
		}
	}
	for _, name := range order {
		if known[name] {
			continue
		}
		if file, ok := sparse[name]; ok {
			rest = append(rest, file)
		}
		ends, err := relationNames(name, func(t string) bool { return known[t] })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if ends == nil {
			return nil, fmt.Errorf("%s: %.120q has edges, and its name does not tell of which types: SOURCE__NAME__TARGET", path, name)
		}
		r := &relationArrays{source: ends[0], name: ends[1], target: ends[2], where: path + ": " + name, list: of[name].names, from: linksNamed(of[name])}
		relations = append(relations, r)
	}
	for _, r := range relations {
		for _, end := range []string{r.source, r.target} {
			if !known[end] {
				known[end] = true
				none := &grouped{arrays: from}
				types = append(types, &typeArrays{name: end, where: path + ": " + end, from: rowsNamed(none)})
			}
		}
	}
	s, err := openTyped(path, types, relations, opt)
	if err != nil {
		return nil, err
	}
	s.h.Name = baseName(path)
	whole := &Data{}
	whole.leaveOut(path, slices.DeleteFunc(rest, func(name string) bool { return name == "_is_array" }))
	s.h.Report.Warnings = whole.Report.Warnings
	return s.settled(path, form, opt)
}
