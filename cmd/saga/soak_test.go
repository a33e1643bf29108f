package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sagann/internal/draw"
)

// soakVariable says how long TestSoak repeats its round, as 10m; in make soak an hour without it.
const soakVariable = "SOAK_FOR"

// TestSoak: rounds of training over ranks that are goroutines of this process, on the whole graph and in batches, with and without a
// secret and shards, of resumes, predictions, mining, walks, and of runs that fail. In an hour neither goroutines nor memory grow, and
// no file stays open, mapped or behind.
func TestSoak(t *testing.T) {
	text := os.Getenv(soakVariable)
	if text == "" && !draw.Soak() {
		t.Skip("an hour: make soak runs it, or " + soakVariable + "=10m go test")
	}
	long, err := time.ParseDuration(cmp.Or(text, "1h"))
	if err != nil {
		t.Fatalf("%s: %v", soakVariable, err)
	}
	s := newSoak(t)
	var list []inUse
	said := time.Now()
	for start := time.Now(); len(list) < 2 || time.Since(start) < long; {
		s.round(t)
		if t.Failed() {
			return
		}
		list = append(list, s.measure(t))
		if n := len(list); n <= 2 || time.Since(said) > time.Minute {
			said = time.Now()
			t.Logf("%5.0f s, %d rounds: %v", time.Since(start).Seconds(), n, list[n-1])
		}
	}
	t.Logf("%d rounds, the last: %v", len(list), list[len(list)-1])
	checkGrowth(t, list)
}

// inUse is what the process has in use between two rounds.
type inUse struct{ goroutines, files, maps, left, heap, resident int64 }

// wordsInUse name the fields of inUse, and room is what may come and go in each without growth.
var wordsInUse = []struct {
	name string
	of   func(inUse) int64
	room int64
}{
	{"goroutines", func(u inUse) int64 { return u.goroutines }, 0},
	{"open files", func(u inUse) int64 { return u.files }, 0},
	{"mappings", func(u inUse) int64 { return u.maps }, 16}, // of the runtime's own memory
	{"temporary files", func(u inUse) int64 { return u.left }, 0},
	{"bytes of heap", func(u inUse) int64 { return u.heap }, 256 << 10},
	{"resident bytes", func(u inUse) int64 { return u.resident }, 32 << 20},
}

func (u inUse) String() string {
	var text []string
	for _, w := range wordsInUse {
		text = append(text, fmt.Sprintf("%d %s", w.of(u), w.name))
	}
	return strings.Join(text, ", ")
}

// checkGrowth compares the last third of the rounds with the third before it: by then caches are full. The least of each is compared,
// since a goroutine that is about to end is no growth.
func checkGrowth(t *testing.T, list []inUse) {
	t.Helper()
	n := len(list)
	for _, w := range wordsInUse {
		least := func(part []inUse) int64 {
			low := int64(math.MaxInt64)
			for _, u := range part {
				low = min(low, w.of(u))
			}
			return low
		}
		if before, after := least(list[n/3:max(n/3+1, 2*n/3)]), least(list[n-max(1, n/3):]); after > before+w.room && (n > 6 || w.room == 0) {
			t.Errorf("%d %s after %d rounds, %d in the third of the rounds before these", after, w.name, n, before)
		}
	}
}

// soak is where rounds run.
type soak struct{ dir, temp, store, shards, key string }

func newSoak(t *testing.T) *soak {
	t.Helper()
	dir := t.TempDir()
	s := &soak{dir, filepath.Join(dir, "temp"), filepath.Join(dir, "g.saga"), filepath.Join(dir, "shards"), filepath.Join(dir, "key")}
	if err := os.Mkdir(s.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", s.temp)
	s.saga(t, exitOK, "data", "generate", "--out", s.store, "vertices=1000,edges=10K,features=12,classes=4,seed=1")
	s.saga(t, exitOK, "data", "shard", "--data", s.store, "--owners", "4", "--out", s.shards)
	s.saga(t, exitOK, "key", s.key)
	return s
}

// round does everything once, in a folder that it removes.
func (s *soak) round(t *testing.T) {
	t.Helper()
	run := filepath.Join(s.dir, "run")
	for _, c := range []struct {
		name, data string
		ranks      int
		secret     bool
		args       []string
	}{
		{"whole graph", s.store, 2, true, []string{"--model", "gcn", "--dropout", "0.2", "--chunks", "8"}},
		{"batches", s.store, 2, false, []string{"--model", "sage", "--sample", "4,3", "--batch", "100", "--accumulate", "4"}},
		{"shards", s.shards, 4, false, []string{"--model", "sage", "--dropout", "0.2"}},
		{"batches of shards", s.shards, 2, true, []string{"--model", "sage", "--sample", "4,3", "--eval-sample", "4,3", "--batch", "100", "--accumulate", "4"}},
	} {
		var peers []string
		if c.secret {
			peers = []string{"--peers-secret", s.key}
		}
		out := filepath.Join(run, c.name)
		s.ranks(t, exitOK, c.ranks, slices.Concat([]string{"train", "--data", c.data, "--owners", "4", "--out", out, "--epochs", "2", "--checkpoint-every", "1"}, c.args, peers)...)
		s.ranks(t, exitOK, c.ranks, slices.Concat([]string{"train", "--resume", out, "--epochs", "3"}, peers)...)
		s.saga(t, exitOK, "predict", out, "--data", s.store, "--out", filepath.Join(run, c.name+".csv"))
		s.saga(t, exitOK, "evaluate", out, "--data", s.store)
	}
	s.saga(t, exitOK, "train", "--data", s.store, "--mem", "200KB", "--host-mem", "1MB", "--epochs", "1", "--out", filepath.Join(run, "little memory"))
	s.saga(t, exitOK, "mine", "clique", "--data", s.store, "--mem", "1MB")
	s.ranks(t, exitOK, 2, "mine", "fpm", "--edges", "2", "--support", "50", "--data", s.store, "--peers-secret", s.key)
	s.saga(t, exitOK, "walk", "--data", s.store, "--out", filepath.Join(run, "walks.npy"))
	s.saga(t, exitFailure, "train", "--data", s.store, "--mem", "1KB", "--out", filepath.Join(run, "too little"))
	s.saga(t, exitFailure, "predict", filepath.Join(run, "shards"), "--data", s.store, "--out", filepath.Join(run, "none", "x.csv"))
	s.ranks(t, exitFailure, 2, "train", "--data", filepath.Join(s.dir, "none.saga"), "--out", filepath.Join(run, "no data"), "--owners", "2")
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
}

// saga runs the command in this process.
func (s *soak) saga(t *testing.T, status int, args ...string) {
	t.Helper()
	out, err := os.CreateTemp(s.dir, "out-")
	if err != nil {
		t.Fatal(err)
	}
	got := run(args, out, out)
	out.Close()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got != status || bytes.Contains(text, []byte("goroutine ")) {
		t.Errorf("saga %s: status %d, want %d\n%s", strings.Join(args, " "), got, status, text)
	}
	if err := os.Remove(out.Name()); err != nil {
		t.Fatal(err)
	}
}

// ranks runs the command on ranks of this process.
func (s *soak) ranks(t *testing.T, status, n int, args ...string) {
	t.Helper()
	peers := strings.Join(freePorts(t, n), ",")
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() { s.saga(t, status, append(slices.Clip(args), "--peers", peers, "--rank", strconv.Itoa(r))...) })
	}
	wg.Wait()
}

// measure reads what is in use when goroutines that were about to end are gone and garbage is collected.
func (s *soak) measure(t *testing.T) inUse {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := inUse{goroutines: int64(runtime.NumGoroutine()), heap: int64(m.HeapAlloc)}
	count := func(path string) int64 {
		list, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		return int64(len(list))
	}
	u.left = count(s.temp) + count(s.dir)
	if runtime.GOOS != "linux" {
		return u
	}
	u.files = count("/proc/self/fd")
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	u.maps = int64(bytes.Count(maps, []byte("\n")))
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(status))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	u.resident = pages * int64(os.Getpagesize())
	return u
}
