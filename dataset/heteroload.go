package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// LoadHetero reads a graph with several types of vertices or relations, for which Load returns ErrSeveralTypes:
//   - PyG's HeteroData, a processed file of one, or the dictionary of its to_dict(), as .pt;
//   - a .npz with arrays paper.x and author__writes__paper.edge_index (or paper/x), and a folder with such arrays as .npy
//     files, in folders paper and author__writes__paper or all in one;
//   - an OGB set with several types, such as ogbn-mag: its root or its folder raw;
//   - the project's own store;
//   - shards, for a rank (opt.Ranks).
//
// Types and relations are sorted by name; vertices of a type keep their order. The result has passed ValidateHetero.
// Errors name the file and the line or byte.
func LoadHetero(path string, opt Options) (*Hetero, error) {
	if IsShards(path) {
		if err := shardsFor(path, &opt); err != nil {
			return nil, err
		}
		return openTypedShards(path, opt.Rank, opt.Ranks)
	}
	s, err := openHetero(path, opt)
	if err != nil {
		return nil, err
	}
	return s.collect(path, opt)
}

// openHetero finds out the format of path and opens it.
func openHetero(path string, opt Options) (*heteroStream, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if isStore(path) {
		return openHeteroStore(path, opt)
	}
	switch ext := filepath.Ext(path); {
	case !info.IsDir() && (ext == ".pt" || ext == ".pth"):
		return openHeteroPT(path, opt)
	case !info.IsDir() && ext == ".npz":
		return openHeteroNpz(path, opt)
	case info.IsDir() && isTypedOGB(path):
		return openHeteroOGB(path, opt)
	case info.IsDir() && isTypedOGB(filepath.Join(path, "raw")):
		return openHeteroOGB(filepath.Join(path, "raw"), opt)
	case info.IsDir() && isTypedFolder(path):
		return openHeteroFolder(path, opt)
	case info.IsDir(): // as of a graph with one type
		forms, sub, err := formsOf(path, opt)
		if err != nil {
			return nil, err
		}
		if len(forms) == 1 && slices.Contains([]string{".pt", ".pth", ".npz"}, filepath.Ext(forms[0].what)) {
			s, err := openHetero(filepath.Join(path, sub, forms[0].what), opt)
			if err == nil && sub != "" {
				s.h.Name += " (" + sub + forms[0].what + ")"
			}
			return s, err
		}
	}
	return nil, fmt.Errorf("%s: no graph of several types in a format that is known", path)
}
