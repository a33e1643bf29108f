package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset/npy"
)

// member is a file of an archive.
type member struct{ name, text string }

// archived is an archive of members that are not compressed.
func archived(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(m.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// encoded is an .npy file.
func encoded[T npy.Elem](t testing.TB, shape []int, x ...T) string {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Encode(&b, shape, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// object is an .npy file of one Python object.
func object(pickle string) string {
	dict := "{'descr': '|O', 'fortran_order': False, 'shape': (), }"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), 0}) + dict + pickle
}

// tensorText is the pickle of a tensor, without PROTO and STOP.
func tensorText(storage, key string, count, first int, shape, stride []int) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n" + storage + "\n" + pickled(key) + pickled("cpu") +
		pickledInt(count) + "tQ" + pickledInt(first) + pickledInts(shape) + pickledInts(stride) + "\x89ccollections\nOrderedDict\n)RtR"
}

func pickled(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func pickledInt(n int) string { return fmt.Sprintf("L%dL\n", n) }

func pickledInts(list []int) string {
	text := "("
	for _, n := range list {
		text += pickledInt(n)
	}
	return text + "t"
}

// saved is what torch.save makes of a dictionary of tensors.
func saved(t testing.TB, items string, members ...member) string {
	return archived(t, append([]member{{"a/data.pkl", "\x80\x02}(" + items + "u."}, {"a/byteorder", "little"}}, members...)...)
}

// longs is a storage of int64.
func longs(x ...int64) string {
	var b []byte
	for _, n := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return string(b)
}

// badCase is a file, or files with the one that is opened in front, and what the error
// says beside the name of the file.
type badCase struct {
	files []member
	words string // parted by |
}

func npzCase(t testing.TB, words string, members ...member) badCase {
	return badCase{[]member{{"g.npz", archived(t, members...)}}, words}
}

func badNpz(t testing.TB) []badCase {
	edges := member{"edge_index.npy", encoded(t, []int{2, 2}, int64(0), 1, 1, 2)}
	ends := func(x ...int64) member { return member{"edge_index.npy", encoded(t, []int{2, len(x) / 2}, x...)} }
	floats := func(name string, shape []int, x ...float32) member {
		return member{name + ".npy", encoded(t, shape, x...)}
	}
	ints := func(name string, shape []int, x ...int64) member {
		return member{name + ".npy", encoded(t, shape, x...)}
	}
	nan := float32(0)
	nan /= nan
	return []badCase{
		{[]member{{"g.npz", "no archive"}}, "zip"},
		{[]member{{"g.npz", ""}}, "zip"},
		npzCase(t, "no array edges, edge_index", ints("x", []int{1}, 1)),
		npzCase(t, "no array", member{"readme.txt", "hello"}),
		npzCase(t, "two arrays are named", edges, edges),
		npzCase(t, "edge_index.npy: byte 0: not an .npy file", member{"edge_index.npy", "no array, but text"}),
		npzCase(t, "edge_index.npy: byte 0: too short", member{"edge_index.npy", ""}),
		npzCase(t, "edge_index.npy: a None where an array should be: of Python objects only matrices of SciPy", member{"edge_index.npy", object("N.")}),
		npzCase(t, "edge_index.npy: byte 128|shape [4] of the edges", ints("edge_index", []int{4}, 0, 1, 1, 2)),
		npzCase(t, "edge_index.npy: byte 152|-1 is outside", ends(0, 1, 1, -1)),
		npzCase(t, "edge_index.npy: byte 136|1099511627776 is outside", ends(0, 1<<40, 1, 2)),
		npzCase(t, "edge_index.npy: byte 132: 0.5 is not a whole number", floats("edge_index", []int{2, 2}, 0, 0.5, 1, 1)),
		npzCase(t, "edge_index.npy: byte 152: vertex 2: ids must be below 2, the rows of|x.npy", edges, floats("x", []int{2, 1}, 1, 2)),
		npzCase(t, "y.npy: byte 128: 2 labels for 3 vertices, the rows of|x.npy", edges, floats("x", []int{3, 1}, 1, 2, 3), ints("y", []int{2}, 0, 1)),
		npzCase(t, "y.npy: byte 128: 2 labels for 3 vertices|labels of graphs are an array named graph_labels", edges, floats("x", []int{3, 1}, 1, 2, 3), ints("y", []int{2}, 0, 1), ints("batch", []int{3}, 0, 0, 2)),
		npzCase(t, "targets.npy: byte 128: 2 rows of targets for 3 vertices", edges, floats("x", []int{3, 1}, 1, 2, 3), floats("targets", []int{2}, 0, 1)),
		npzCase(t, "targets.npy: byte 128: shape [3 1 1] of the targets", edges, floats("targets", []int{3, 1, 1}, 1, 2, 3)),
		npzCase(t, "g.npz|vertex 2 has the targets [+Inf]", edges, floats("targets", []int{3}, 1, 2, float32(math.Inf(1)))),
		npzCase(t, "x.npy: byte 128: shape [3] of the features", edges, floats("x", []int{3}, 1, 2, 3)),
		npzCase(t, "x.npy: byte 128: shape [3 1 1]", edges, floats("x", []int{3, 1, 1}, 1, 2, 3)),
		npzCase(t, "x.npy: byte 128: shape [0 4]", edges, floats("x", []int{0, 4})),
		npzCase(t, "x.npy: byte 136: row 2, column 0 is NaN", edges, floats("x", []int{3, 1}, 1, 2, nan)),
		npzCase(t, "y.npy|label -5", edges, ints("y", []int{3}, 0, 1, -5)),
		npzCase(t, "y.npy|label 9000000", edges, ints("y", []int{3}, 0, 1, 9000000)),
		npzCase(t, "y.npy: byte 144: label 2 of vertex 1, class 0", edges, ints("y", []int{3, 2}, 0, 1, 2, 1, 1, 1)),
		npzCase(t, "ids.npy: byte 144: vertices 0 and 2 both have the id \"7\"", edges, ints("ids", []int{3}, 7, 5, 7)),
		npzCase(t, "num_nodes or meta.json", edges, floats("x", []int{3, 1}, 0, 1.5, 1), ints("num_nodes", []int{1}, 5)),
		npzCase(t, "y.npy|shape [1 3 1]", edges, ints("y", []int{1, 3, 1}, 0, 1, 1)),
		npzCase(t, "train_mask.npy: byte 136: 2 in a mask", edges, ints("train_mask", []int{3}, 1, 2, 2)),
		npzCase(t, "train_mask.npy|a mask of 2 for 3 vertices", edges, ints("train_mask", []int{2}, 1, 1)),
		npzCase(t, "train_mask.npy: byte 128: shape [1 3 1] of a split: want ids, or a truth value for each of 3 vertices", edges, ints("train_mask", []int{1, 3, 1}, 1, 0, 1)),
		npzCase(t, "val_mask.npy: byte 132: 0.5 is not a whole number", edges, floats("val_mask", []int{3}, 1, 0.5, 0)),
		npzCase(t, "train_idx.npy: byte 128: vertex 3: ids must be below 3", edges, ints("train_idx", []int{1}, 3)),
		npzCase(t, "train_y.npy: byte 128: shape [2]: want a label for each id of train_idx", edges, ints("train_idx", []int{1}, 2), ints("train_y", []int{2}, 0, 1)),
		npzCase(t, "train_y.npy: byte 128: shape [1]: want a label for each id of train", edges, ints("train_y", []int{1}, 0)),
		npzCase(t, "test_y.npy: byte 128: vertex 1 has the labels 0 and 1", edges, floats("x", []int{3, 1}, 1, 2, 3), ints("train_idx", []int{1}, 1), ints("train_y", []int{1}, 0), ints("test_idx", []int{1}, 1), ints("test_y", []int{1}, 1)),
		npzCase(t, "train_y.npy: byte 128: labels of some vertices, and no number of all", edges, ints("train_idx", []int{1}, 1), ints("train_y", []int{1}, 0)),
		npzCase(t, "edge_weight.npy: byte 128: shape [3], want 2 rows", edges, floats("edge_weight", []int{3}, 1, 2, 3)),
		npzCase(t, "edge_weight.npy: byte 128: shape [2 2], want one weight", edges, floats("edge_weight", []int{2, 2}, 1, 2, 3, 4)),
		npzCase(t, "edge_weight.npy: byte 132: row 1, column 0 is NaN", edges, floats("edge_weight", []int{2}, 1, nan)),
		npzCase(t, "edge_attr.npy: byte 128: shape [1 2], want 2 rows", edges, floats("edge_attr", []int{1, 2}, 1, 2)),
		npzCase(t, "edge_type.npy: byte 128: -1 is outside", edges, ints("edge_type", []int{2}, -1, 0)),
		npzCase(t, "num_nodes.npy: byte 128: [1 2] vertices: want one number", edges, ints("num_nodes", []int{2}, 1, 2)),
		npzCase(t, "num_nodes.npy: byte 128: [-3] vertices", edges, ints("num_nodes", []int{1}, -3)),
		npzCase(t, "4000000000 vertices with 2 edges", edges, ints("num_nodes", []int{1}, 4e9)),
		npzCase(t, "edge_index.npy|vertex 2: ids must be below 2", edges, ints("num_nodes", []int{1}, 2)),
	}
}

func badMatrices(t testing.TB) []badCase {
	parts := func(name, text string) []member {
		list := []member{{"adj_data.npy", encoded(t, []int{2}, float32(1), 1)}, {"adj_indices.npy", encoded(t, []int{2}, int32(1), 0)},
			{"adj_indptr.npy", encoded(t, []int{3}, int32(0), 1, 2)}, {"adj_shape.npy", encoded(t, []int{2}, int64(2), 2)}}
		for i := range list {
			if list[i].name == name {
				list[i].text = text
			}
		}
		return list
	}
	with := func(name, text string) []member { return append(parts("", ""), member{name, text}) }
	kept := func(words, pickle string) badCase { return npzCase(t, words, member{"adj_matrix.npy", object(pickle)}) }
	good := "\x80\x02" + csr2("K\x03K\x03\x86")
	return []badCase{
		npzCase(t, "g.npz: array adj_indices: file does not exist", slices.Delete(parts("", ""), 1, 2)...),
		npzCase(t, "adj_indptr.npy: byte 128: row pointers run from 0 to 3", parts("adj_indptr.npy", encoded(t, []int{3}, int32(0), 1, 3))...),
		npzCase(t, "adj_indptr.npy|row pointer 1 is 3", parts("adj_indptr.npy", encoded(t, []int{3}, int32(0), 3, 2))...),
		npzCase(t, "adj_indptr.npy|entry 1 has column 2 of 2", parts("adj_indices.npy", encoded(t, []int{2}, int32(1), 2))...),
		npzCase(t, "adj_indptr.npy|entry 0 has column -1", parts("adj_indices.npy", encoded(t, []int{2}, int32(-1), 1))...),
		npzCase(t, "adj_indptr.npy|3 row pointers for 3 rows", parts("adj_shape.npy", encoded(t, []int{2}, int64(3), 2))...),
		npzCase(t, "adj_indptr.npy|2×5: not square", parts("adj_shape.npy", encoded(t, []int{2}, int64(2), 5))...),
		npzCase(t, "adj_shape.npy: byte 128: shape [2]", parts("adj_shape.npy", encoded(t, []int{1}, int64(2)))...),
		npzCase(t, "adj_data.npy: byte 128: row 0, column 0 is +Inf", parts("adj_data.npy", encoded(t, []int{2}, 1e300, 1))...),
		npzCase(t, "attr_matrix.npy|shape [2]", with("attr_matrix.npy", encoded(t, []int{2}, float32(1), 2))...),
		npzCase(t, "g.npz: array attr_indices: file does not exist", with("attr_indptr.npy", encoded(t, []int{3}, int32(0), 1, 2))...),
		npzCase(t, "labels.npy|3 labels for 2 vertices", append(with("labels.npy", encoded(t, []int{3}, int32(0), 1, 2)), member{"attr_matrix.npy", encoded(t, []int{2, 1}, float32(1), 2)})...),
		kept("adj_matrix.npy: byte 0|class \"os.system\" is not allowed", "cos\nsystem\n(S'id'\ntR."),
		kept("adj_matrix.npy|class \"builtins.eval\" is not allowed", "\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R."),
		kept("adj_matrix.npy: a dictionary where an array should be", "}."),
		kept("adj_matrix.npy: byte 2: the pickle is cut off", "\x80\x02"),
		kept("adj_matrix.npy|255 bytes of data", "\x80\x02U\xff."),
		kept("adj_matrix.npy|entry 1 has column 2 of 2", "\x80\x02"+csr2("K\x02K\x02\x86")),
		kept("adj_matrix.npy|2×3: not square", "\x80\x02"+csr2("K\x02K\x03\x86")),
		kept("adj_matrix.npy|shape", "\x80\x02"+csr2("K\x02\x85")),
		kept("adj_matrix.npy|class \"scipy.sparse.csr.lil_matrix\" is not allowed", strings.ReplaceAll("\x80\x02"+csr2("K\x02K\x03\x86"), "csr_matrix", "lil_matrix")),
		npzCase(t, "the adjacency is no sparse matrix", member{"adj_matrix.npy", encoded(t, []int{2, 2}, int64(0), 1, 1, 0)}),
		npzCase(t, "adj.npy|3 row pointers for 3 rows", member{"adj.npy", object(good)}),
	}
}

// badTorch are archives of torch.save.
func badTorch(t testing.TB) []badCase {
	edges := longs(0, 1, 1, 2)
	tensor := func(key string, count, first int, shape, stride []int) string {
		return pickled("edge_index") + tensorText("LongStorage", key, count, first, shape, stride)
	}
	one := func(words, items string, members ...member) badCase {
		return badCase{[]member{{"g.pt", saved(t, items, members...)}}, words}
	}
	plain := tensor("0", 4, 0, []int{2, 2}, []int{2, 1})
	data := member{"a/data/0", edges}
	pkl := func(words, text string) badCase {
		return badCase{[]member{{"g.pt", archived(t, member{"a/data.pkl", text})}}, words}
	}
	counted := func(words, slices, vertices string) badCase {
		return badCase{[]member{{"g.pt", ofCounts(t, slices, vertices)}}, words}
	}
	return []badCase{
		{[]member{{"g.pt", "no archive"}}, "no archive of torch.save"},
		{[]member{{"g.pt", ""}}, "no archive of torch.save"},
		{[]member{{"g.pt", "\x80\x02" + legacyTorch + ".\x80\x02M\xe9\x03."}}, "byte 0|torch.save(torch.load("},
		{[]member{{"g.pt", archived(t, member{"a/version", "3"})}}, "no member data.pkl"},
		{[]member{{"g.pt", archived(t, member{"a/data.pkl", "N."}, member{"b/data.pkl", "N."})}}, "two members are named data.pkl"},
		pkl("a/data.pkl: byte 0|class \"os.system\" is not allowed", "cos\nsystem\n(S'id'\ntR."),
		pkl("a/data.pkl: byte 0|class \"__builtin__.eval\" is not allowed", "c__builtin__\neval\n(S'1'\ntR."),
		pkl("a/data.pkl|class \"__main__.Net\" is not allowed", "c__main__\nNet\n)\x81."),
		pkl("a/data.pkl: byte 2: the pickle is cut off", "\x80\x02"),
		pkl("a/data.pkl: byte 2|2147483647 bytes of data, 1 are left", "\x80\x02X\xff\xff\xff\x7f."),
		pkl("a/data.pkl: a int: want PyG's Data", "K\x01."),
		pkl("a/data.pkl: graph 0 of 2: a int", "](K\x01K\x02e."),
		pkl("a/data.pkl: a tuple of 1", "K\x01\x85."),
		pkl("a/data.pkl: HeteroData: several types of vertices or relations", "ctorch_geometric.data.hetero_data\nHeteroData\n)\x81}b."),
		pkl("a/data.pkl: a torch_geometric.data.data.Data", "ctorch_geometric.data.data\nData\n)\x81."),
		pkl("a/data.pkl: a torch_geometric.data.data.Data without its attributes", "ctorch_geometric.data.data\nData\n)\x81}"+pickled("_store")+"Nsb."),
		pkl("a/data.pkl: a int where the name", "\x80\x02}(K\x01K\x02u."),
		one("a/data.pkl: no edge_index; there are [\"x\"]", pickled("x")+"K\x01"),
		one("no edge_index|torch_sparse is not read", pickled("adj_t")+"N"),
		one("tensor edge_index|no member a/data/0", plain),
		one("tensor edge_index|a storage of 4 elements of 8 bytes, a/data/0 has 24 bytes", plain, member{"a/data/0", longs(0, 1, 1)}),
		one("tensor edge_index|a storage of 1152921504606846976 elements", tensor("0", 1<<60, 0, []int{2, 2}, []int{2, 1}), data),
		one("tensor edge_index|shape [2 1000000000000] has more elements than its storage", tensor("0", 4, 0, []int{2, 1e12}, []int{0, 0}), data),
		one("tensor edge_index|leave the storage of 4", tensor("0", 4, 1, []int{2, 2}, []int{2, 1}), data),
		one("tensor edge_index|leave the storage of 4", tensor("0", 4, 0, []int{2, 2}, []int{1 << 30, 1}), data),
		one("tensor edge_index|shape [9223372036854775807 9223372036854775807] is too large", tensor("0", 4, 0, []int{1<<63 - 1, 1<<63 - 1}, []int{1, 1}), data),
		one("tensor edge_index|malformed size", tensor("0", 4, 0, []int{2, 2}, []int{2}), data),
		one("tensor edge_index|malformed size", tensor("0", 4, -1, []int{2, 2}, []int{2, 1}), data),
		one("tensor edge_index|malformed size", tensor("0", 4, 0, []int{2, -2}, []int{2, 1}), data),
		one("tensor edge_index|elements of torch.ComplexFloatStorage are not read", strings.Replace(plain, "LongStorage", "ComplexFloatStorage", 1), data),
		one("sparse tensor edge_index: no layout and parts", strings.Replace(plain, "_rebuild_tensor_v2", "_rebuild_sparse_tensor", 1), data),
		one("tensor edge_index|no storage in the archive", pickled("edge_index")+"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x01))tR"),
		one("a/data/0 (edge_index): byte 24: -1 is outside", plain, member{"a/data/0", longs(0, 1, 1, -1)}),
		one("a/data/0 (edge_index): byte 0: shape [4] of the edges", tensor("0", 4, 0, []int{4}, []int{1}), data),
		one("a/data.pkl: num_nodes|[-1] vertices", plain+pickled("num_nodes")+"J\xff\xff\xff\xff", data),
		one("a/data/0 (edge_index): byte 24: vertex 2: ids must be below 2", plain+pickled("num_nodes")+"K\x02", data),
		one("a/data/0 (y): byte 0: 4 labels for 2 vertices", plain+pickled("y")+tensorText("LongStorage", "0", 4, 0, []int{4}, []int{1})+
			pickled("x")+tensorText("LongStorage", "0", 4, 0, []int{2, 2}, []int{2, 1}), data),
		{[]member{{"g.pt", archived(t, member{"a/data.pkl", "\x80\x02}(" + plain + "u}(" + pickled("edge_index") + tensorText("LongStorage", "1", 3, 0, []int{3}, []int{1}) + "u\x86."}, data, member{"a/data/1", longs(0, 1, 2)})}},
			"a/data.pkl: the vertices of 2 graphs are not given"},
		ofTwo(t, "slices of edge_index do not ascend", []int64{0, 3, 2}, []int64{0, 1, 3}),
		ofTwo(t, "shape [2 2] of the edges: want [2 3]", []int64{0, 1, 3}, []int64{0, 2, 3}),
		ofTwo(t, "vertex 1 of graph 0, which has 1", []int64{0, 1, 2}, []int64{0, 1, 3}),
		counted("edge_index holds a str", "](K\x00"+pickled("1")+"e", "](K\x01K\x02e"),
		counted("edge_index is a None, no tensor", "N", "](K\x01K\x02e"),
		counted("num_nodes holds a str", "](K\x00K\x01K\x02e", "](K\x01"+pickled("2")+"e"),
		counted("num_nodes has -1", "](K\x00K\x01K\x02e", "](K\x01J\xff\xff\xff\xffe"),
		one("parameter of nothing", pickled("edge_index")+"ctorch._utils\n_rebuild_parameter\n)R"),
		one("edge_index|1 arguments", pickled("edge_index")+"ctorch._utils\n_rebuild_tensor_v2\n(K\x01tR"),
	}
}

// ofCounts is what PyG saves of two graphs without features, of an edge 0 to 0 and an edge 0 to 1: with slices of the edges, and the vertices of each.
func ofCounts(t testing.TB, slices, vertices string) string {
	text := "\x80\x02}(" + pickled("edge_index") + tensorText("LongStorage", "0", 4, 0, []int{2, 2}, []int{2, 1}) + pickled("num_nodes") + vertices +
		"u}(" + pickled("edge_index") + slices + pickled("num_nodes") + "](K\x00K\x01K\x02eu\x86."
	return archived(t, member{"a/data.pkl", text}, member{"a/byteorder", "little"}, member{"a/data/0", longs(0, 0, 0, 1)})
}

// ofTwo is what PyG saves of two graphs with the edges 0 to 1 and 1 to 2, with slices of edges and of vertices.
func ofTwo(t testing.TB, words string, edges, vertices []int64) badCase {
	list := func(key string, n int) string { return tensorText("LongStorage", key, n, 0, []int{n}, []int{1}) }
	text := "\x80\x02}(" + pickled("edge_index") + tensorText("LongStorage", "0", 4, 0, []int{2, 2}, []int{2, 1}) + pickled("x") +
		tensorText("LongStorage", "3", 3, 0, []int{3, 1}, []int{1, 1}) + "u}(" + pickled("edge_index") + list("1", len(edges)) + pickled("x") + list("2", len(vertices)) + "u\x86."
	return badCase{[]member{{"g.pt", archived(t, member{"a/data.pkl", text}, member{"a/byteorder", "little"}, member{"a/data/0", longs(0, 1, 1, 2)},
		member{"a/data/1", longs(edges...)}, member{"a/data/2", longs(vertices...)}, member{"a/data/3", longs(1, 2, 3)})}}, words}
}

// badTables are tables; v.csv is taken as that of vertices.
func badTables() []badCase {
	edges := func(words, text string) badCase { return badCase{[]member{{"e.csv", text}}, words} }
	vertices := func(words, text string) badCase {
		return badCase{[]member{{"e.csv", "source,target\na,b\nb,c\n"}, {"v.csv", text}}, words}
	}
	return []badCase{
		edges("e.csv: the table is empty", ""),
		edges("e.csv:1: one column", "source\n1\n"),
		edges("e.csv: no edges", "source,target\n"),
		edges("e.csv:3: 1 fields, want 2", "source,target\n1,2\n3\n"),
		edges("e.csv:2: 3 fields, want 2", "source,target\n1,2,3\n"),
		edges("e.csv:3: column target: the id is empty", "source,target\n1,2\n3,\n"),
		edges("e.csv:2: a quote is not closed", "source,target\n\"a,b\n"),
		edges("e.csv:2: field 1: \"x,b\" follows the closing quote", "source,target\n\"a\"x,b\n"),
		edges("e.csv:1: two columns are named \"source\": rename one of them", "source,source\n1,2\n"),
		edges("e.csv:1: \"alice,bob\" may be a heading or a row", "alice,bob\nbob,carol\n"),
		edges("e.csv:3: column weight: \"x\" is not a number", "source,target,weight\n1,2,3\n2,1,x\n"),
		edges("e.csv:2: column weight: \"nan\" is not finite", "source,target,weight\n1,2,nan\n"),
		edges("e.csv:2: column weight: 1e+300 is too large for float32", "source,target,weight\n1,2,1e300\n"),
		edges("e.csv:2: column type: the edge has no type", "source,target,type\n1,2,\n"),
		vertices("v.csv: the table is empty", ""),
		vertices("v.csv: no vertices", "id,label\n"),
		vertices("v.csv:3: vertex \"a\" stands twice", "id,label\na,1\na,2\n"),
		vertices("e.csv:3: column target: \"c\" is not a vertex; ids are column \"id\" (--id)", "id,label\na,1\nb,2\n"),
		vertices("v.csv:3: column f: \"x\" is not a number", "id,f\na,1\nb,x\nc,2\n"),
		vertices("v.csv:2: split \"later\": train, val, test or nothing", "id,split\na,later\nb,\nc,test\n"),
		vertices("v.csv: column label: no vertex has a label", "id,label\na,\nb,\nc,nan\n"),
		vertices("v.csv:3: column id has the ids of vertices (--id names another): the id is empty", "id,label\na,1\n,2\n"),
	}
}

func badOGB(t testing.TB) []badCase {
	labels := archived(t, member{"node_label.npy", encoded(t, []int{3, 1}, float32(0), 1, 1)})
	arrays := func(name, text string) string {
		list := []member{{"edge_index.npy", encoded(t, []int{2, 2}, int64(0), 1, 1, 2)}, {"node_feat.npy", encoded(t, []int{3, 1}, float32(1), 2, 3)},
			{"num_nodes_list.npy", encoded(t, []int{1}, int64(3))}}
		for i := range list {
			if list[i].name == name {
				list[i].text = text
			}
		}
		return archived(t, list...)
	}
	one := func(words, data, labels string) badCase {
		return badCase{[]member{{"raw/data.npz", data}, {"raw/node-label.npz", labels}}, words}
	}
	text := func(words, name, content string) badCase {
		files := []member{{"raw/edge.csv", "0,1\n1,2\n"}, {"raw/num-node-list.csv", "3\n"}}
		for i := range files {
			if files[i].name == name {
				files[i].text = content
				return badCase{files, words}
			}
		}
		return badCase{append(files, member{name, content}), words}
	}
	return []badCase{
		one("data.npz|zip", "x", labels),
		one("node-label.npz|zip", arrays("", ""), "x"),
		one("node-label.npz: no array \"node_label\"", arrays("", ""), archived(t)),
		one("num_nodes_list.npy: byte 128: [1 2] vertices", arrays("num_nodes_list.npy", encoded(t, []int{2}, int64(1), 2)), labels),
		one("edge_index.npy: byte 152: vertex 7: ids must be below 3", arrays("edge_index.npy", encoded(t, []int{2, 2}, int64(0), 1, 1, 7)), labels),
		one("node_feat.npy: byte 128: 2 rows of features for 3 vertices", arrays("node_feat.npy", encoded(t, []int{2, 1}, float32(1), 2)), labels),
		text("node-feat.csv: 2 rows for 3 vertices", "raw/node-feat.csv", "1\n2\n"),
		text("node-feat.csv:4: more rows than the 3 vertices", "raw/node-feat.csv", "1\n2\n3\n4\n"),
		text("node-feat.csv: no rows", "raw/node-feat.csv", "\n"),
		text("edge-feat.csv: 1 rows for 2 edges", "raw/edge-feat.csv", "1\n"),
		text("edge-feat.csv:3: more rows than the 2 edges", "raw/edge-feat.csv", "1\n2\n3\n"),
		text("edge-feat.csv:2: 2 columns, the rows before have 1", "raw/edge-feat.csv", "1\n2,3\n"),
		text("edge.csv:2: edge 1,3", "raw/edge.csv", "0,1\n1,3\n"),
		text("num-node-list.csv: 0 graphs", "raw/num-node-list.csv", "\n"),
	}
}

// cutDoors are the files of doors_test.go without their ends, and with a byte changed in
// the middle where a checksum tells.
func cutDoors(t testing.TB) []badCase {
	var out []badCase
	for _, name := range doors {
		text, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			continue // a folder
		}
		for _, n := range []int{len(text) / 2, len(text) - 1} {
			out = append(out, badCase{[]member{{"cut-" + name, string(text[:n])}}, "zip"})
		}
	}
	return out
}

// TestBadInput opens and converts bad files: an error names the file and the place,
// and nothing is written.
func TestBadInput(t *testing.T) {
	cases := slices.Concat(badNpz(t), badMatrices(t), badTorch(t), badTables(), badOGB(t), cutDoors(t))
	if len(cases) < 100 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		files := map[string]string{}
		for _, m := range c.files {
			files[m.name] = m.text
		}
		dir := writeFiles(t, files)
		name := c.files[0].name
		conv := Conversion{From: filepath.Join(dir, name), Out: filepath.Join(t.TempDir(), "out.saga")}
		if strings.HasPrefix(name, "raw/") {
			conv.From = dir
		}
		if name == "e.csv" {
			conv.Tables = &Tables{Edges: conv.From}
			if files["v.csv"] != "" || len(c.files) > 1 {
				conv.Tables.Vertices = filepath.Join(dir, "v.csv")
				if strings.Contains(files["v.csv"], "f\n") {
					conv.Tables.Features = []string{"f"}
				}
			}
		}
		var err error
		if conv.Tables != nil {
			_, err = LoadTables(*conv.Tables, Options{})
		} else {
			_, err = Load(conv.From, Options{})
		}
		what := name + ", " + c.words
		refused(t, what, err, append(strings.Split(c.words, "|"), filepath.Base(dir))...)
		_, _, again := Convert(conv)
		if err != nil && (again == nil || again.Error() != err.Error()) {
			t.Errorf("%s: converting: %v, loading: %v", what, again, err)
		}
		if list, _ := os.ReadDir(filepath.Dir(conv.Out)); len(list) > 0 {
			t.Errorf("%s: %s is left", what, list[0].Name())
		}
	}
}
