package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// typedName is the name of an array of one type or relation: paper.x, author__writes__paper.edge_index, or with a slash
// in place of the dot. whole is false for a name without type.
func typedName(name string) (of, array string, ok bool) {
	i := max(strings.LastIndexByte(name, '.'), strings.LastIndexByte(name, '/'))
	if i < 1 || i == len(name)-1 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// relationNames cuts the name of a relation, source__name__target or source___name___target, into three; nil if it is no
// such name. Where names have underscores themselves, the ends are the longest names that isType knows.
func relationNames(name string, isType func(string) bool) []string {
	if parts := strings.Split(name, "___"); len(parts) == 3 && !slices.Contains(parts, "") {
		return parts
	}
	parts := strings.Split(name, "__")
	if len(parts) == 3 && !slices.Contains(parts, "") {
		return parts
	}
	for i := len(parts) - 2; i >= 1; i-- {
		for j := i + 1; j < len(parts); j++ {
			ends := []string{strings.Join(parts[:i], "__"), strings.Join(parts[i:j], "__"), strings.Join(parts[j:], "__")}
			if isType(ends[0]) && isType(ends[2]) && ends[1] != "" {
				return ends
			}
		}
	}
	return nil
}

// hasRelations reports whether some of the names of arrays are of edges of a relation.
func hasRelations(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		of, array, ok := typedName(name)
		return ok && (array == "edge_index" || array == "edges") && strings.Contains(of, "__")
	})
}

// isTypedOGB reports whether a folder is the folder raw of an OGB set with several types.
func isTypedOGB(raw string) bool {
	_, err := os.Stat(filepath.Join(raw, tripletsFile))
	if err != nil {
		_, err = os.Stat(filepath.Join(raw, tripletsFile+".gz"))
	}
	return err == nil
}

// tripletsFile is the file of such a set that lists the relations.
const tripletsFile = "triplet-type-list.csv"

// isTypedFolder reports whether a folder has arrays of relations: in folders source__name__target, or as files
// source__name__target.edge_index.npy.
func isTypedFolder(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		if name, ok := strings.CutSuffix(e.Name(), ".npy"); ok {
			return hasRelations([]string{name})
		}
		within := func(file string) bool {
			info, err := os.Stat(filepath.Join(dir, e.Name(), file))
			return err == nil && info.Mode().IsRegular()
		}
		return strings.Contains(e.Name(), "__") && (within("edge_index.npy") || within("edges.npy"))
	})
}
