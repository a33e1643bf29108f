package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
)

// arrays is a source of named arrays: a folder of .npy files or an archive.
type arrays interface {
	// Names lists the arrays.
	Names() []string
	// Open opens the array of that name for reading in pieces; the error is
	// fs.ErrNotExist when there is none.
	Open(name string) (*npy.Reader, error)
	// Size is the size on disk, in bytes, of what Open(name) reads.
	Size(name string) int64
}

// readArray reads an array as a whole.
func readArray(from arrays, name string) (*npy.Array, error) {
	r, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.All()
}

type npyFolder string

func (f npyFolder) path(name string) string { return filepath.Join(string(f), name+".npy") }

func (f npyFolder) Open(name string) (*npy.Reader, error) { return npy.Open(f.path(name)) }

func (f npyFolder) Names() []string {
	entries, _ := os.ReadDir(string(f)) // a folder that cannot be listed has no arrays
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".npy"); ok && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

func (f npyFolder) Size(name string) int64 {
	info, err := os.Stat(f.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// npyArchive is an .npz file. Size is that of the whole file for every member.
type npyArchive struct {
	*npy.Archive
	size int64
}

func openArchive(path string) (npyArchive, error) {
	z, err := npy.OpenZip(path)
	if err != nil {
		return npyArchive{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		z.Close()
		return npyArchive{}, err
	}
	return npyArchive{z, info.Size()}, nil
}

func (a npyArchive) Size(string) int64 { return a.size }

// named gives arrays the names that they have in an .npy folder, and adds computed arrays.
type named struct {
	arrays
	names map[string]string // from our name to theirs; an array that is not listed has the same name
	made  map[string]*npy.Array

	attr     *csr   // nil, or features that are a sparse matrix
	attrName string // its file and name, for errors
}

func (n named) theirs(name string) string {
	if t, ok := n.names[name]; ok {
		return t
	}
	return name
}

// theirName is what the array of our name is called in from.
func theirName(from arrays, name string) string {
	if n, ok := from.(named); ok {
		return n.theirs(name)
	}
	return name
}

func (n named) Open(name string) (*npy.Reader, error) {
	if a := n.made[name]; a != nil {
		return npy.Pieces(a), nil
	}
	return n.arrays.Open(n.theirs(name))
}

func (n named) Size(name string) int64 {
	if a := n.made[name]; a != nil {
		return 8 * int64(a.Len())
	}
	return n.arrays.Size(n.theirs(name))
}

// ourNames are the arrays of an .npy folder.
var ourNames = []string{"edges", "edge_weight", "edge_type", "edge_data", "edge_time", "vertex_time", "features", "labels", "targets", "ids", "train", "val", "test",
	"train_labels", "val_labels", "test_labels", "features_csr_data", "features_csr_indices", "features_csr_indptr", "features_csr_shape",
	"graph_indicator", "graph_labels", "graph_targets", "graph_train", "graph_val", "graph_test",
	"edge_labels", "edge_targets", "edge_train", "edge_val", "edge_test",
	"link_train", "link_val", "link_test", "link_val_neg", "link_test_neg", "link_messages"}

// otherNames are names that other software uses for the arrays: PyG, DGL, OGB, and files with several splits. The
// first one that exists is taken, if there is none of our name.
var otherNames = map[string][]string{
	"edges":       {"edge_index"},
	"features":    {"x", "node_feat", "feat", "feats", "node_features"},
	"labels":      {"y", "node_label", "label", "node_labels"},
	"edge_data":   {"edge_attr", "edge_feat"},
	"edge_time":   {"time", "edge_timestamp", "timestamp"},
	"vertex_time": {"node_time"},
	"train":       {"train_mask", "train_masks", "train_idx", "idx_train"},
	"val":         {"val_mask", "valid_mask", "val_masks", "val_idx", "valid_idx", "idx_val"},
	"test":        {"test_mask", "test_masks", "test_idx", "idx_test"},

	"train_labels": {"train_y"},
	"val_labels":   {"val_y", "valid_y"},
	"test_labels":  {"test_y"},

	"graph_indicator": {"batch"},

	"link_train":    {"train_pos_edge_index"},
	"link_val":      {"val_pos_edge_index"},
	"link_test":     {"test_pos_edge_index"},
	"link_val_neg":  {"val_neg_edge_index"},
	"link_test_neg": {"test_neg_edge_index"},
}

// otherwise maps our names to those of the other names that are in list.
func otherwise(list []string, others map[string][]string) map[string]string {
	out := map[string]string{}
	for ours, theirs := range others {
		if slices.Contains(list, ours) {
			continue
		}
		for _, name := range theirs {
			if slices.Contains(list, name) {
				out[ours] = name
				break
			}
		}
	}
	if pairs := out["link_train"]; pairs != "" && out["edges"] == "" && !slices.Contains(list, "edges") { // train_test_split_edges removes edge_index
		out["edges"] = pairs
	}
	return out
}

// warnUnread warns of arrays that nothing reads: the names in list that are neither ours nor in names.
// where and ending make the file of a name.
func (d *Data) warnUnread(list []string, where, ending string, names map[string]string, known ...string) {
	used := slices.Clone(known)
	for _, ours := range ourNames {
		if t, ok := names[ours]; ok {
			used = append(used, t)
		} else {
			used = append(used, ours)
		}
	}
	var unread []string
	for _, name := range list {
		if slices.Contains(used, name) {
			continue
		}
		if near := nearest(name, names); near != "" && !(slices.Contains(pairArrays, name) && aloneText(list) != "") && !slices.Contains(list, near) {
			d.Report.Warnings = append(d.Report.Warnings, fmt.Sprintf("%s: nothing reads %s%s; did you mean %s%s?", where, name, ending, near, ending))
			continue
		}
		unread = append(unread, name+ending)
	}
	d.leaveOut(where, unread)
}

// leaveOut warns of the parts of a file or folder that nothing reads: arrays, variables, columns or files. Every
// reader that leaves something out calls it.
func (d *Data) leaveOut(where string, unread []string) {
	if len(unread) > 0 {
		text := fmt.Sprintf("%s: nothing reads %.400s", where, strings.Join(unread, ", "))
		if alone := aloneText(unread); alone != "" {
			text += "; " + alone
		}
		d.Report.Warnings = append(d.Report.Warnings, text)
	}
}

// pairArrays are the arrays of a Data that PyG's RandomLinkSplit made beside those of the graph.
var pairArrays = []string{"edge_label_index", "edge_label", "pos_edge_label_index", "neg_edge_label_index", "pos_edge_label", "neg_edge_label"}

// aloneText says what to do with pairs to predict that are not of three Data, "" if no name of list is of such.
func aloneText(list []string) string {
	for _, name := range []string{"edge_label_index", "pos_edge_label_index"} {
		if slices.Contains(list, name) {
			return name + ": pairs of one part of a split that RandomLinkSplit made; the three parts together are read as a split of links, torch.save((train, val, test), \"split.pt\"), of a graph with one type of vertices"
		}
	}
	return ""
}

// nearest is the known array that the user may have meant by name: the one that PyG calls so, or one whose
// name differs by at most two letters; "" if there is none.
func nearest(name string, names map[string]string) string {
	for ours, theirs := range otherNames {
		if names[ours] == "" && slices.Contains(theirs, name) {
			return ours
		}
	}
	for _, ours := range ourNames {
		want := ours
		if t, ok := names[ours]; ok {
			want = t
		}
		if distance(name, want) <= min(2, len(want)/2) {
			return want
		}
	}
	return ""
}

// distance is the edit distance of a and b: how many letters must be changed, added, removed, or swapped
// with the next one to make b from a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			same := 1
			if a[i] == b[j] {
				same = 0
			}
			row[j+1] = min(last[j]+same, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
