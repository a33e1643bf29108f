package main

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/dataset/npy"
)

// taskKinds are runs of other tasks, the formats in which they meet data, and whether these have names of classes, columns and vertices.
var taskKinds = []struct {
	kind, args string
	formats    []string
	named      bool
}{
	{"graph", "--model gin", []string{"store.saga", "folder"}, true},
	{"graph plain", "--model gin --readout max", []string{"npz", "pt", "tu"}, false},
	{"graph sets", "--model gcn", []string{"store.saga", "folder"}, true},
	{"graph sets plain", "--model gcn --readout sum", []string{"npz", "pt"}, false},
	{"edge", "--model gcn", []string{"store.saga", "folder"}, true},
	{"edge plain", "--model sage", []string{"npz", "pt"}, false},
	{"edge sets plain", "--model gcn", []string{"npz", "pt"}, false},
	{"link plain", "--task link --model gcn --width 4", []string{"npz", "pt", "store.saga"}, false},
	{"sampled", "--model sage --sample 3,3 --batch 4", []string{"store.saga", "folder", "tables.saga"}, true},
	{"vertex plain", "--model gcn", []string{"npz", "pt"}, false},
}

// drawnFor is a random graph, or several, with what a run of the kind learns.
func drawnFor(r *rand.Rand, v int, kind string, named bool) *dataset.Data {
	d := drawn(r, v, "features")
	task, _, _ := strings.Cut(kind, " ")
	if task == "graph" || task == "edge" {
		d.Labels, d.Classes, d.Schema.Vertex = nil, 0, dataset.Labels{}
		n, k := d.Edges.E(), dataset.EdgeLabels
		if task == "graph" {
			n, k = v/3, dataset.GraphLabels
			for u := range v {
				d.GraphOf = append(d.GraphOf, uint32(u%n))
			}
			for i, u := range d.Edges.Src { // edges stay in their graph
				d.Edges.Dst[i] = uint32((int(u) + n*r.IntN(v)) % (v / n * n))
				d.Edges.Src[i] = u % uint32(v/n*n)
			}
		}
		d.Schema.Of(k).Classes = world.classes
		labels, sets := make([]int32, n), dataset.Numbers{Cols: 3}
		for i := range n {
			labels[i] = int32(i % 3)
			sets.Rows = append(sets.Rows, float32(i%2), float32(r.IntN(3)-1), float32(r.IntN(3)-1))
		}
		r.Shuffle(n, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		switch {
		case strings.Contains(kind, "sets") && task == "graph":
			d.Targets.GraphSets = sets
		case strings.Contains(kind, "sets"):
			d.Targets.EdgeSets = sets
		case task == "graph":
			d.GraphLabels = labels
		default:
			d.EdgeLabels = labels
		}
	}
	if !named {
		d.Schema, d.Vertices = dataset.Schema{}, dataset.Naming{}
	}
	return d
}

// plainly writes d in a format that keeps no names.
func plainly(t *testing.T, dir, format string, d *dataset.Data) string {
	t.Helper()
	path := filepath.Join(dir, "plain."+format)
	if format == "tu" {
		path = filepath.Join(dir, "tu")
		writeTU(t, path, d)
		return path
	}
	files, err := filepath.Glob(filepath.Join(written(t, dir, "folder", d), "*.npy"))
	arrays := map[string]*npy.Array{}
	for _, name := range files {
		a, bad := npy.Read(name)
		if err == nil {
			err = bad
		}
		arrays[strings.TrimSuffix(filepath.Base(name), ".npy")] = a
	}
	switch {
	case err != nil:
	case format == "npz":
		err = npy.WriteZip(path, arrays)
	default:
		err = writePT(path, arrays)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// writePT writes arrays as torch.save writes a dictionary of tensors.
func writePT(path string, arrays map[string]*npy.Array) error {
	text := func(s string) string {
		return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
	}
	tuple := func(list []int) string {
		out := "("
		for _, n := range list {
			out += fmt.Sprintf("L%dL\n", n)
		}
		return out + "t"
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	add := func(name string, data []byte) {
		w, bad := z.CreateHeader(&zip.FileHeader{Name: "a/" + name, Method: zip.Store})
		if bad == nil {
			_, bad = w.Write(data)
		}
		if err == nil {
			err = bad
		}
	}
	items := ""
	for i, name := range slices.Sorted(maps.Keys(arrays)) {
		a, storage := arrays[name], "LongStorage"
		var data any
		if _, floats := a.Data.([]float32); floats {
			storage, data = "FloatStorage", a.Data
		} else if data, err = a.Int64s(); err != nil {
			return err
		}
		bytes, _ := binary.Append(nil, binary.LittleEndian, data)
		add("data/"+strconv.Itoa(i), bytes)
		stride := make([]int, len(a.Shape))
		for k, n := len(stride)-1, 1; k >= 0; k-- {
			stride[k] = n
			n *= a.Shape[k]
		}
		items += text(name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + storage + "\n" + text(strconv.Itoa(i)) + text("cpu") +
			fmt.Sprintf("L%dL\n", a.Len()) + "tQL0L\n" + tuple(a.Shape) + tuple(stride) + "\x89ccollections\nOrderedDict\n)RtR"
	}
	add("data.pkl", []byte("\x80\x02}("+items+"u."))
	add("byteorder", []byte("little"))
	if bad := z.Close(); err == nil {
		err = bad
	}
	return err
}

// writeTU writes graphs with classes and features as a TU folder.
func writeTU(t *testing.T, dir string, d *dataset.Data) {
	t.Helper()
	var files [4]string
	for i, u := range d.Edges.Src {
		files[0] += fmt.Sprintf("%d, %d\n", u+1, d.Edges.Dst[i]+1)
	}
	for v, g := range d.GraphOf {
		files[1] += fmt.Sprintln(g + 1)
		for c, x := range d.Features[v*d.FeatureCols : (v+1)*d.FeatureCols] {
			files[3] += strings.Repeat(", ", min(c, 1)) + strconv.FormatFloat(float64(x), 'g', -1, 32)
		}
		files[3] += "\n"
	}
	for _, c := range d.GraphLabels {
		files[2] += fmt.Sprintln(c)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"A", "graph_indicator", "graph_labels", "node_attributes"} {
		if err := os.WriteFile(filepath.Join(dir, "T_"+name+".txt"), []byte(files[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMetamorphicTasks is TestMetamorphic for labels of edges and graphs, for links, for a run that was trained on samples, and
// for formats without names, in which only the orders of vertices, edges and graphs change.
func TestMetamorphicTasks(t *testing.T) {
	dir, runs := t.TempDir(), t.TempDir()
	write := func(format string, d *dataset.Data) string {
		if slices.Contains([]string{"npz", "pt", "tu"}, format) {
			return plainly(t, dir, format, d)
		}
		return written(t, dir, format, d)
	}
	for i := range metamorphicTasks {
		k := taskKinds[i%len(taskKinds)]
		run := filepath.Join(runs, k.kind)
		if i < len(taskKinds) { // trained once
			d := drawnFor(rand.New(rand.NewPCG(uint64(i), 2)), 15, k.kind, k.named)
			args := append(strings.Fields("train --hidden 4 --epochs 5 --lr 0.1 "+k.args), "--data", write(k.formats[0], d), "--out", run)
			if status, text := sagaCommand(t, args...); status != exitOK {
				t.Fatalf("%s: %s", k.kind, text)
			}
		}
		r := rand.New(rand.NewPCG(uint64(i), 35))
		d := drawnFor(r, 9+3*r.IntN(2), k.kind, k.named)
		want, err := ask(t, run, write(k.formats[0], d))
		if err != nil {
			t.Fatalf("case %d, %s: %v", i, k.kind, err)
		}
		other, exact, to := d, true, places{}
		if k.named {
			other = renumbered(r, d)
		}
		if r.IntN(2) == 0 {
			other, to = moved(r, other)
			exact = false
		}
		format := k.formats[r.IntN(len(k.formats))]
		got, err := ask(t, run, write(format, other))
		if err != nil {
			t.Fatalf("case %d, %s, %s: %v", i, k.kind, format, err)
		}
		if err := want.compare(got, exact, to.was(k.kind)); err != nil {
			t.Fatalf("case %d, %s, %s, exact %v: %v", i, k.kind, format, exact, err)
		}
	}
}

// was gives what a key of an answer about moved data was before: number n became number place. Vertices with names keep them.
func (o places) was(kind string) func(string) string {
	task, _, _ := strings.Cut(kind, " ")
	at := map[string][]int{"graph": o.graphs, "edge": o.edges, "link": o.vertices, "vertex": o.vertices}[task]
	return func(key string) string {
		if at == nil {
			return key
		}
		var list []string
		for _, n := range strings.Fields(key) {
			i, _ := strconv.Atoi(n)
			list = append(list, strconv.Itoa(at[i]))
		}
		return strings.Join(list, " ")
	}
}
