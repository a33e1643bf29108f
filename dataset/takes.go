package dataset

import (
	"path/filepath"
	"slices"
	"strings"
)

// Takes reports whether Load of the folder dir reads a file of that name in it, or would if there were one: such a file is not to be written
// beside the data. name may be in a folder of dir, with a slash.
func Takes(dir, name string) bool {
	name = filepath.ToSlash(name)
	folder, file, below := strings.Cut(name, "/")
	switch {
	case IsShards(dir):
		return file == "" && (name == manifestFile || filepath.Ext(name) == ".saga")
	case below && isTypedFolder(dir):
		return true
	case below:
		return slices.Contains([]string{"raw", "processed", "split", "mapping"}, folder)
	}
	stem, packed := strings.CutSuffix(name, ".npy")
	switch {
	case name == "meta.json" || packed && (ourName(stem) != "" || strings.Contains(stem, "__") || strings.Contains(stem, ".")):
		return true
	case exists(filepath.Join(dir, "edges.npy")), exists(filepath.Join(dir, "edge_index.npy")), isTypedFolder(dir):
		return false // of these nothing else is read
	}
	forms, err := formsIn(dir, Options{})
	if err != nil {
		return true
	}
	if len(forms) == 1 && forms[0].set {
		known := func(begin string) bool { return strings.HasPrefix(name, begin) }
		return slices.ContainsFunc([]string{"ind.", "edge", "node", "graph", "num-", "triplet", "data.npz"}, known) || strings.HasSuffix(plainName(name), ".txt")
	}
	return isGraph(name)
}
