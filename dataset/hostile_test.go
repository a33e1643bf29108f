package dataset

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
)

// packed is an archive with deflated members.
func packed(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, m := range members {
		w, err := z.Create(m.name)
		if err == nil {
			_, err = io.WriteString(w, m.text)
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

// anyHead is the header of an .npy, whatever follows it.
func anyHead(descr, shape string) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), byte(len(dict) >> 8)}) + dict
}

// refuses loads a file that must be refused soon, with an error that names it, without much memory. With may it can
// also be read.
func refuses(t *testing.T, name, path string, may bool) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, busy := time.Now(), processorTime(t)
	_, err := Load(path, Options{})
	took := min(time.Since(start), processorTime(t)-busy) // other programs and other tests may take processors
	runtime.ReadMemStats(&after)
	switch {
	case err == nil && !may:
		t.Errorf("%s: is read", name)
	case err != nil && (!strings.Contains(err.Error(), path) || len(err.Error()) > 2000):
		t.Errorf("%s: %.300v", name, err)
	}
	if took > 10*time.Second || after.TotalAlloc-before.TotalAlloc > 3<<30 {
		t.Errorf("%s: %v, %d MiB", name, took, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// processorTime is what this process has taken so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestHostileFiles: files that are made to crash, to hang or to take all memory.
func TestHostileFiles(t *testing.T) {
	ok := "X\x0a\x00\x00\x00edge_index" + tensorText("LongStorage", "0", 4, 0, []int{2, 2}, []int{2, 1})
	ends := member{"a/data/0", longs(0, 1, 1, 0)}
	pt := func(pkl string) string { return packed(t, member{"a/data.pkl", "\x80\x02" + pkl + "."}, ends) }
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	edges := member{"edge_index.npy", encoded(t, []int{2, 2}, int64(0), 1, 1, 0)}
	files := map[string]string{
		"cycle.pt":     pt("]q\x00h\x00a"),
		"lists.pt":     pt(many("]", 2_000_000) + many("a", 1_999_999)),
		"tuples.pt":    pt("N" + many("N\x86", 1_000_000)),
		"parameter.pt": pt("}X\x01\x00\x00\x00x" + "ctorch._utils\n_rebuild_parameter\nq\x00" + many("h\x00", 399_999) + "N" + many("\x85R", 400_000) + "s"),
		"manylists.pt": pt(many("]", 16<<20)),
		"manydicts.pt": pt(many("}", 16<<20)),
		"nones.pt":     pt("(" + many("N", 16<<20) + "l"),
		"memo.pt":      pt("N" + many("\x94", 16<<20)),
		"system.pt":    pt("cposix\nsystem\nX\x01\x00\x00\x00x\x85R"),
		"cycle.npz":    packed(t, member{"adj_matrix.npy", object("\x80\x02]q\x00h\x00a.")}),
		"lists.npz":    packed(t, member{"adj_matrix.npy", object("\x80\x02" + many("]", 32<<20) + ".")}),
		"nested.npz":   packed(t, member{"adj_matrix.npy", object("\x80\x02" + many("]", 1<<20) + many("a", 1<<20-1) + ".")}),
		"rows.npz":     packed(t, edges, member{"x.npy", anyHead("<f4", "(1099511627776, 0)")}),
		"large.npz":    packed(t, edges, member{"x.npy", anyHead("<f4", "(4611686018427387904, 4)")}),
		"negative.npz": packed(t, edges, member{"x.npy", anyHead("<f4", "(-1,)")}),
		"texts.npz":    packed(t, edges, member{"ids.npy", anyHead("<U1000000000", "(2,)")}),
		"bomb.txt.gz":  gz(many(many("0 1\n", 1<<18), 300)),
		"line.txt.gz":  gz(many("0", 64<<20)),
		"cut.txt.gz":   gz(many("0 1\n", 1000))[:30],
	}
	for i, shape := range [][]int{{1 << 59, 0}, {0, 1 << 59}, {1 << 40, 0, 3}, {1 << 62, 1 << 62}, {2, 1 << 31}} {
		for _, name := range []string{"edge_index", "train_mask", "x", "num_nodes"} {
			stride := []int{7, 7, 7}[:len(shape)]
			files[fmt.Sprintf("shape%d_%s.pt", i, name)] = pt("}(" + ok + pickled(name) + tensorText("LongStorage", "0", 4, 0, shape, stride) + "u")
		}
	}
	dir := writeFiles(t, files)
	for name := range files {
		refuses(t, name, filepath.Join(dir, name), false)
	}
	for _, ending := range []string{".mat", ".txt", ".saga", ".npz", ".pt", ".csv", ".mtx", ".npy"} {
		pipe, device := filepath.Join(dir, "pipe"+ending), filepath.Join(dir, "device"+ending)
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/zero", device); err != nil {
			t.Fatal(err)
		}
		refuses(t, pipe, pipe, false)
		refuses(t, device, device, false)
	}
}

// TestManyHostileFiles: drawn ones. Each is read, or refused as those above.
func TestManyHostileFiles(t *testing.T) {
	n := 120
	if draw.Soak() {
		n = 5000
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 1))
	dir := t.TempDir()
	for k := range n {
		name, text := hostile(t, r)
		path := filepath.Join(dir, fmt.Sprintf("%d%s", k, name))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refuses(t, path, path, true)
		os.Remove(path)
	}
}

// hostile draws a file, and the ending of its name.
func hostile(t *testing.T, r *rand.Rand) (ending, text string) {
	zip := archived
	if r.IntN(2) == 0 {
		zip = packed
	}
	numbers := []int{0, 1, 2, 3, 4, 7, 255, 1 << 16, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 59, 1<<62 + 1, -1, -1 << 62}
	some := func() []int {
		list := make([]int, 1+r.IntN(3))
		for i := range list {
			list[i] = numbers[r.IntN(len(numbers))]
			if r.IntN(2) == 0 {
				list[i] = r.IntN(4)
			}
		}
		return list
	}
	types := []string{"LongStorage", "FloatStorage", "BoolStorage", "HalfStorage", "ByteStorage", "IntStorage"}
	names := []string{"edge_index", "x", "y", "train_mask", "num_nodes", "edge_attr", "batch", "adj_t"}
	switch r.IntN(4) {
	case 0: // tensors
		items := ""
		for range 1 + r.IntN(4) {
			shape := some()
			stride := some()
			for len(stride) < len(shape) {
				stride = append(stride, 1)
			}
			items += pickled(names[r.IntN(len(names))]) + tensorText(types[r.IntN(len(types))], "0", 4, r.IntN(3), shape, stride[:len(shape)])
		}
		return ".pt", zip(t, member{"a/data.pkl", "\x80\x02}(" + items + "u."}, member{"a/data/0", longs(0, 1, 1, 0)})
	case 1: // pickles of any instructions, some of them again and again
		codes := []string{"]", "}", ")", "(", "N", "q\x00", "h\x00", "a", "e", "t", "l", "s", "u", "\x85", "\x86", "0", "2", "\x94", "R", "b", "Q", "K\x01", pickled("edge_index"), pickled("_store"),
			"ctorch._utils\n_rebuild_tensor_v2\n", "ctorch_geometric.data.data\nData\n", "ccollections\nOrderedDict\n", "L99999999999999999L\n", "]q\x00h\x00a", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"}
		var b strings.Builder
		for range 1 + r.IntN(12) {
			code := codes[r.IntN(len(codes))]
			times := 1
			if r.IntN(4) == 0 {
				times = 1 << r.IntN(22)
			}
			b.WriteString(strings.Repeat(code, times))
		}
		if r.IntN(2) == 0 {
			return ".pt", zip(t, member{"a/data.pkl", "\x80\x02" + b.String() + "."}, member{"a/data/0", longs(0, 1)})
		}
		return ".npz", zip(t, member{"adj_matrix.npy", object("\x80\x02" + b.String() + ".")})
	case 2: // arrays whose headers say anything
		descr := []string{"<i8", "<f4", "|b1", "|O", "<U4", "<U999999999", ">f8", "<f2"}
		var members []member
		for _, name := range names[:1+r.IntN(len(names))] {
			shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(some()), "[]"), " ", ", ")
			members = append(members, member{name + ".npy", anyHead(descr[r.IntN(len(descr))], "("+shape+",)") + strings.Repeat("\x01", r.IntN(64))})
		}
		return ".npz", zip(t, members...)
	}
	// elements of MATLAB with any sizes, and texts that say much in few bytes
	if r.IntN(2) == 0 {
		elements := [][]byte{matVar("network", []uint32{mxSparse, mxDouble}[r.IntN(2)], int32(some()[0]), int32(some()[0]), longBytes(some()), longBytes(some()), longBytes(some()))}
		if r.IntN(2) == 0 {
			elements[0] = zipped(elements[0])
		}
		return ".mat", string(matFile(elements...))
	}
	text = fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", some()[0], some()[0], some()[0])
	return ".mtx", text + strings.Repeat("1 2\n", r.IntN(5))
}

// longBytes is an element of int64.
func longBytes(list []int) []byte {
	var x []int64
	for _, n := range list {
		x = append(x, int64(n))
	}
	return matElem(miInt64, []byte(longs(x...)))
}
