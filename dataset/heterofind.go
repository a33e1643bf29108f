package dataset

import (
	"fmt"
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
// such name. Where names have underscores themselves, the ends are names that isType knows. If they can be in several ways,
// which is in the error.
func relationNames(name string, isType func(string) bool) ([]string, error) {
	var ways [][]string
	for _, between := range []string{"___", "__"} {
		for _, ends := range cuts(name, between) {
			if isType(ends[0]) && isType(ends[2]) {
				ways = append(ways, ends)
			}
		}
		if len(ways) > 1 {
			return nil, fmt.Errorf("%.120q is a relation from %.40q to %.40q, or from %.40q to %.40q: other names of types tell which", name, ways[0][0], ways[0][2], ways[1][0], ways[1][2])
		}
		if len(ways) == 1 {
			return ways[0], nil
		}
	}
	for _, between := range []string{"___", "__"} {
		parts := strings.Split(name, between)
		unclear := func(part string) bool { return part == "" || part[0] == '_' || part[len(part)-1] == '_' }
		if len(parts) == 3 && !slices.ContainsFunc(parts, unclear) {
			return parts, nil
		}
	}
	return nil, nil
}

// cuts lists the ways to cut a name at two places into three that are not empty. Of more than two underscores a place may be any two.
func cuts(name, between string) (list [][]string) {
	for i := 1; i < len(name); i++ {
		if !strings.HasPrefix(name[i:], between) {
			continue
		}
		for j := i + len(between) + 1; j < len(name)-len(between); j++ {
			if strings.HasPrefix(name[j:], between) {
				list = append(list, []string{name[:i], name[i+len(between) : j], name[j+len(between):]})
			}
		}
	}
	return list
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
