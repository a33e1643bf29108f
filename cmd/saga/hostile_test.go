package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sagann/dataset"
	"sagann/internal/draw"
)

// Places in a store, as chunk/header.go and chunk/block.go have them.
const (
	storeHeader   = 4096
	storeFields   = 16
	storeTable    = storeFields + 11*8 // where the table of blocks begins
	storeTableCRC = storeFields + 12*8
	storeEntry    = 32
)

// hostileStore changes a store, and makes all its checksums right again.
type hostileStore struct {
	file []byte
	r    *rand.Rand
}

func (h *hostileStore) table() []byte {
	return h.file[binary.LittleEndian.Uint64(h.file[storeTable:]):]
}

// number is one that is likely to do harm where a number of that size stands.
func (h *hostileStore) number(was uint64) uint64 {
	if h.r.IntN(3) == 0 {
		return uint64(h.r.IntN(62)) // often one that is allowed there
	}
	list := []uint64{0, 1, 2, was - 1, was + 1, was * 2, was ^ 1<<h.r.IntN(32), 59, 60, 61, 63, 64, 255, 256, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1 << 62, 1<<63 - 1, 1 << 63, 0x7f800000, 0x7fc00000}
	return list[h.r.IntN(len(list))]
}

// change makes a change and says which.
func (h *hostileStore) change() string {
	table := h.table()
	n, le := len(table)/storeEntry, binary.LittleEndian
	entry := table[h.r.IntN(n)*storeEntry:]
	at, size := le.Uint64(entry[16:]), le.Uint64(entry[24:])
	switch k := h.r.IntN(10); {
	case k < 6 && size >= 4 && at < uint64(len(h.file)) && size <= uint64(len(h.file))-at: // a number of a block
		at += 4 * uint64(h.r.IntN(int(size/4)))
		x := h.file[at:]
		le.PutUint32(x, uint32(h.number(uint64(le.Uint32(x)))))
		return fmt.Sprintf("block of kind %d: %d at byte %d", le.Uint32(entry), le.Uint32(x), at)
	case k < 7: // a field of the header
		i := h.r.IntN(14)
		if i >= 11 {
			i++ // where the table is stays as it is
		}
		x := h.file[storeFields+8*i:]
		le.PutUint64(x, h.number(le.Uint64(x)))
		return fmt.Sprintf("field %d of the header: %d", i, le.Uint64(x))
	case k < 8: // kind or position of a block
		x := entry[4*h.r.IntN(3):]
		le.PutUint32(x, uint32(h.number(uint64(le.Uint32(x)))%64))
		return fmt.Sprintf("entry of kind %d (%d,%d)", le.Uint32(entry), le.Uint32(entry[4:]), le.Uint32(entry[8:]))
	case k < 9: // two blocks change places
		other := table[h.r.IntN(n)*storeEntry:]
		for i := 16; i < storeEntry; i++ {
			entry[i], other[i] = other[i], entry[i]
		}
		return fmt.Sprintf("blocks of kind %d and %d swapped", le.Uint32(entry), le.Uint32(other))
	}
	le.PutUint64(entry[24:], size-min(size, 4<<h.r.IntN(4)))
	return fmt.Sprintf("block of kind %d has %d bytes", le.Uint32(entry), le.Uint64(entry[24:]))
}

// sign makes the checksums right.
func (h *hostileStore) sign() {
	le, sum := binary.LittleEndian, func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	table := h.table()
	for i := 0; i+storeEntry <= len(table); i += storeEntry {
		at, size := le.Uint64(table[i+16:]), le.Uint64(table[i+24:])
		if at < uint64(len(h.file)) && size <= uint64(len(h.file))-at {
			le.PutUint32(table[i+12:], sum(h.file[at:at+size]))
		}
	}
	le.PutUint64(h.file[storeTableCRC:], uint64(sum(table)))
	le.PutUint32(h.file[storeHeader-4:], sum(h.file[:storeHeader-4]))
}

// hostile changes the store at path up to three times.
func hostile(t *testing.T, r *rand.Rand, path string) (what string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostileStore{file, r}
	for range 1 + r.IntN(3) {
		what += h.change() + "; "
		h.sign()
	}
	if err := os.WriteFile(path, h.file, 0o666); err != nil {
		t.Fatal(err)
	}
	return what
}

// manifestNumber is a number in shards.json.
var manifestNumber = regexp.MustCompile(`:\d+`)

// hostileManifest changes numbers in the manifest of shards, and makes its checksum right again.
func hostileManifest(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "shards.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	places := manifestNumber.FindAllIndex(text, -1)
	p := places[r.IntN(len(places))]
	was, _ := strconv.ParseUint(string(text[p[0]+1:p[1]]), 10, 64)
	to := (&hostileStore{r: r}).number(was)
	if r.IntN(2) == 0 {
		to = uint64(r.IntN(70))
	}
	other := slices.Concat(text[:p[0]+1], strconv.AppendUint(nil, to, 10), text[p[1]:])
	const sum = len(`{"crc32c":"`)
	copy(other[sum:sum+8], "00000000")
	copy(other[sum:sum+8], fmt.Sprintf("%08x", crc32.Checksum(other, crc32.MakeTable(crc32.Castagnoli))))
	if err := os.WriteFile(path, other, 0o666); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("manifest: %d at byte %d; ", to, p[0])
}

// soundStores writes the stores and shards that are changed: one with all that edges can have, one of graphs, one of many intervals.
func soundStores(t *testing.T, dir string) (stores, shards []string) {
	t.Helper()
	for i, base := range []int{4, 1, 20} {
		d, err := dataset.Synthetic(dataset.Spec{Vertices: 60, Edges: 400, Features: 4, Classes: 3, Seed: uint64(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			e := d.Edges
			e.Types = 3
			for k := range e.Src {
				e.Weight, e.Type = append(e.Weight, float32(k%7)), append(e.Type, uint32(k%3))
			}
		case 1:
			for v := range d.Edges.V {
				d.GraphOf = append(d.GraphOf, uint32(v/6))
			}
			for g := range 10 {
				d.GraphLabels, d.GraphSplit.Train = append(d.GraphLabels, int32(g%3)), append(d.GraphSplit.Train, uint32(g))
			}
			for k := range d.Edges.E() {
				d.EdgeLabels, d.EdgeSplit.Train = append(d.EdgeLabels, int32(k%3)), append(d.EdgeSplit.Train, uint32(k))
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("sound%d.saga", i))
		if err := dataset.WriteStore(path, d, base); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, path)
		if i == 1 { // shards keep labels of vertices only
			continue
		}
		out := filepath.Join(dir, fmt.Sprintf("sound%d", i))
		if _, _, err := dataset.WriteShards(dataset.Sharding{Conversion: dataset.Conversion{From: path, Out: out}, Owners: 2, Chunks: 4, SelfLoops: i == 2}); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, out)
	}
	return stores, shards
}

// readsStores and readsShards are commands that compute with what is in a store, and in shards. DATA and OUT are replaced.
var (
	readsStores = []string{
		"train --data DATA --model gcn --epochs 1 --out OUT",
		"train --data DATA --model ggcn --chunks 5 --device cpu:2 --epochs 1 --out OUT",
		"train --data DATA --model gat --host-mem 200KiB --epochs 1 --out OUT",
		"train --data DATA --model rgcn --epochs 1 --out OUT",
		"train --data DATA --model gin --task graph --epochs 1 --out OUT",
		"train --data DATA --model sage --task edge --epochs 1 --out OUT",
		"train --data DATA --model sage --sample 3,2 --batch 9 --epochs 1 --out OUT",
		"train --data DATA --model gcn --sample weighted:3,2 --batch 9 --eval-sample 2,2 --epochs 1 --out OUT",
		"walk --data DATA --sampler multirw:10 --out OUT.npy",
		"sample --data DATA --sampler ladies:8,8 --out OUT.npy",
		"mine match --data DATA --undirected --pattern diamond --out OUT.npy",
		"data convert --data DATA --format npy --out OUT",
		"data shard --data DATA --owners 2 --chunks 4 --out OUT",
		"data info DATA",
	}
	readsShards = []string{
		"train --data DATA --owners 2 --model gcn --epochs 1 --out OUT",
		"train --data DATA --owners 2 --model ggcn --epochs 1 --out OUT",
		"train --data DATA --owners 2 --model sage --sample 3,2 --eval-sample 3,2 --batch 9 --epochs 1 --out OUT",
		"train --data DATA --owners 2 --model sage --sample 3,2 --batch 9 --host-mem 200KiB --epochs 1 --out OUT",
		"data verify --data DATA",
	}
)

// TestHostileStores: stores and shards with numbers that no program of ours writes, under right checksums, are refused, or computed
// with; nothing is read outside of memory. An index out of range is a panic where Go checks it (go test -tags noasm checks those of the
// vector code, too), and the memory of a device lies between pages that cannot be read. make soak tries a thousand.
func TestHostileStores(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	stores, shards := soundStores(t, dir)
	n := 40
	if draw.Soak() {
		n = 1000
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 1))
	ran, refused := 0, 0
	for i := range n {
		path, what, jobs := filepath.Join(dir, "bad.saga"), "", readsStores
		if i%3 == 2 {
			path, jobs = filepath.Join(dir, "bad"), readsShards
			if err := os.CopyFS(path, os.DirFS(shards[r.IntN(len(shards))])); err != nil {
				t.Fatal(err)
			}
			what = path
			if r.IntN(2) == 0 {
				what += hostileManifest(t, r, path)
			} else {
				name := []string{"shard0.saga", "shard1.saga", "rows0.saga", "rows1.saga"}[r.IntN(4)]
				what += name + ": " + hostile(t, r, filepath.Join(path, name))
			}
		} else {
			file, err := os.ReadFile(stores[r.IntN(len(stores))])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			what = hostile(t, r, path)
		}
		for range 2 {
			job := jobs[r.IntN(len(jobs))]
			out := filepath.Join(dir, "out")
			status, text := sagaCommand(t, strings.Fields(strings.NewReplacer("DATA", path, "OUT", out).Replace(job))...)
			ran++
			if status != exitOK {
				refused++
			}
			if strings.Contains(text, "panic") || strings.Contains(text, "runtime error") {
				t.Errorf("%s\n%s: %s", what, job, text)
			}
			for _, left := range []string{out, out + ".npy"} {
				if err := os.RemoveAll(left); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d commands over %d stores and shards, %d refused", ran, n, refused)
}

// TestPipesAreKept: no command waits for a pipe that is named in place of a file or a folder, or puts a file in its place.
func TestPipesAreKept(t *testing.T) {
	dir := t.TempDir()
	run, store := filepath.Join(dir, "run"), filepath.Join(dir, "g.saga")
	for _, args := range []string{
		"train --data karate --epochs 1 --out " + run,
		"data generate vertices=50,edges=200,features=3,classes=2 --out " + store,
	} {
		if status, text := sagaCommand(t, strings.Fields(args)...); status != exitOK {
			t.Fatal(text)
		}
	}
	for _, job := range []string{
		"predict RUN --out PIPE.csv", "predict RUN --out PIPE.npy", "predict RUN --out PIPE.safetensors", "embed RUN --out PIPE.npy", "evaluate RUN --out PIPE.csv",
		"report RUN --out PIPE", "plan --data karate --html PIPE", "sample --data karate --out PIPE.csv", "sample --data karate --out PIPE.npy",
		"walk --data karate --out PIPE.txt", "walk --data karate --out PIPE.npy", "mine match --data karate --pattern wedge --out PIPE.csv",
		"mine match --data karate --pattern wedge --out PIPE.npy", "mine fpm --data karate --support 5 --edges 1 --out PIPE.csv",
		"mine fpm --data karate --support 5 --edges 1 --domains PIPE.npy", "mine fpm --data karate --support 5 --edges 1 --resume PIPE",
		"data convert STORE --out PIPE.saga", "data generate vertices=50,edges=200 --out PIPE.saga", "data convert STORE --format npy --out PIPE",
		"data shard STORE --owners 2 --out PIPE", "train --data karate --epochs 1 --out PIPE", "train --resume PIPE", "report PIPE", "predict PIPE --out OUT.csv", "key PIPE",
		"train --data PIPE.saga --out OUT", "data verify PIPE.saga", "data verify --data PIPE",
	} {
		pipe := filepath.Join(dir, "pipe")
		for _, ending := range []string{".csv", ".npy", ".safetensors", ".txt", ".saga"} {
			if strings.Contains(job, "PIPE"+ending) {
				pipe += ending
			}
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		args := strings.NewReplacer("RUN", run, "STORE", store, "OUT", filepath.Join(dir, "out"), "PIPE"+filepath.Ext(pipe), pipe).Replace(job)
		status, text := sagaCommand(t, strings.Fields(args)...)
		info, err := os.Lstat(pipe)
		if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Errorf("%s: the pipe is gone, status %d", job, status)
		}
		if status != exitFailure && status != exitUsage || !strings.Contains(text, "pipe") {
			t.Errorf("%s: status %d: %s", job, status, text)
		}
		if err := os.RemoveAll(pipe); err != nil {
			t.Fatal(err)
		}
	}
}
