package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCreateTakesTheNextNumber(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "runs")
	for _, want := range []string{"saga-run-0001", "saga-run-0002"} {
		f, err := Create(parent)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f.Dir) != want {
			t.Errorf("%s, want %s", f.Dir, want)
		}
	}
	for _, name := range []string{"saga-run-0041", "saga-run-x", "saga-run-99999999999999999999", "other-0077"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Create(parent)
	if err != nil || filepath.Base(f.Dir) != "saga-run-0042" {
		t.Errorf("%v, %v", f, err)
	}

	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]bool{}
	for range 20 {
		wg.Go(func() {
			f, err := Create(parent)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || got[f.Dir] {
				t.Errorf("%v, %v", f, err)
			} else {
				got[f.Dir] = true
			}
		})
	}
	wg.Wait()
}

func TestCreateAtOverwritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // the second time it is there, and empty
		if _, err := createAt(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := createAt(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v", err)
	}
	if _, err := createAt(filepath.Join(dir, "x")); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// createAt is CreateAt without a lock.
func createAt(dir string) (*Folder, error) {
	return CreateAt(dir, "checkpoint", func(string) error { return nil })
}

// TestCreateAtRecovers: a run begins in a folder that a killed one has left, whenever it was killed, and removes its temporary files. The
// folder is locked first.
func TestCreateAtRecovers(t *testing.T) {
	for _, x := range []struct {
		files  []string
		kept   []string // nil: refused
		refuse string
	}{
		{files: []string{".config.json.tmp-22248"}, kept: []string{}},
		{files: []string{".config.json.tmp-22248-00ab12cd", ".checkpoint.tmp-0badcafe"}, kept: []string{}},
		{files: []string{"config.json", ".metrics.csv.tmp-1", "log.txt"}, kept: []string{"config.json", "log.txt"}},
		{files: []string{"config.json", "checkpoint", ".a.tmp-1"}, refuse: "would be overwritten: --resume"},
		{files: []string{"notes.txt", ".config.json.tmp-22248"}, refuse: "it holds notes.txt"},
		{files: []string{".notes.tmp-mine"}, refuse: "it holds .notes.tmp-mine"},
		{files: []string{".profile"}, refuse: "it holds .profile"},
	} {
		dir := t.TempDir()
		for _, name := range x.files {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		locked := false
		_, err := CreateAt(dir, "checkpoint", func(string) error {
			list, _ := os.ReadDir(dir)
			locked = len(list) == len(x.files)
			return nil
		})
		var names []string
		list, _ := os.ReadDir(dir)
		for _, e := range list {
			names = append(names, e.Name())
		}
		switch {
		case !locked:
			t.Errorf("%q: not locked first", x.files)
		case x.refuse != "" && (err == nil || !strings.Contains(err.Error(), x.refuse) || len(names) != len(x.files)):
			t.Errorf("%q: %v, and %q are left", x.files, err, names)
		case x.refuse == "" && (err != nil || fmt.Sprint(names) != fmt.Sprint(x.kept)):
			t.Errorf("%q: %v, and %q are left", x.files, err, names)
		}
	}
	if _, err := CreateAt(t.TempDir(), "checkpoint", func(string) error { return fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the lock failed: %v", err)
	}
}

func TestConfigAndOpen(t *testing.T) {
	type config struct {
		Model string
		Seed  uint64
	}
	f, err := createAt(filepath.Join(t.TempDir(), "run [1]*"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.Dir); err == nil || !strings.Contains(err.Error(), "no config.json") {
		t.Errorf("error %v", err)
	}
	want := config{"ggcn", math.MaxUint64}
	if err := f.WriteConfig(want); err != nil {
		t.Fatal(err)
	}
	stale := f.Path(".checkpoint.safetensors.tmp-0badcafe")
	if err := os.WriteFile(stale, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err = Open(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err != nil {
		t.Errorf("Open has taken what another process may be writing: %v", err)
	}
	if err := f.Tidy(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a temporary file is still there")
	}
	var got config
	if edited, err := f.ReadConfig(&got); err != nil || edited || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := f.ReadConfig(&struct{ Model string }{}); err == nil {
		t.Error("a setting was dropped")
	}
	for range 2 {
		log, err := f.Log()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(log, "line")
		log.Close()
	}
	if text, _ := os.ReadFile(f.Path(LogFile)); string(text) != "line\nline\n" {
		t.Errorf("log %q", text)
	}
}

// epoch is a line with values that do not survive a format of few digits.
func epoch(n int) Epoch {
	return Epoch{n, 1 / float64(n), math.Pi / 4, math.NaN(), 0.5, 1e-3 / 3, 1 << 40, 0, int64(n), 0.1 * float64(n)}
}

func TestMetricsResume(t *testing.T) {
	f := &Folder{t.TempDir()}
	write := func(resumed, from, to int) {
		t.Helper()
		m, _, err := f.OpenMetrics(resumed)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for n := from; n <= to; n++ {
			if err := m.Append(epoch(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Append(epoch(to)); err == nil {
			t.Error("an epoch was written twice")
		}
	}
	write(0, 1, 9)
	out, err := os.OpenFile(f.Path(MetricsFile), os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(out, "10,0.25,0.") // killed here
	out.Close()
	if list, err := ReadMetrics(f.Dir); err != nil || len(list) != 9 {
		t.Errorf("%d lines, %v", len(list), err)
	}
	write(5, 6, 7) // the checkpoint was of epoch 5
	list, err := ReadMetrics(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Epoch{epoch(1), epoch(2), epoch(3), epoch(4), epoch(5), epoch(6), epoch(7)}
	if d := cmp.Diff(want, list, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	write(7, 8, 8)
	write(0, 1, 1)
	if list, err := ReadMetrics(f.Dir); err != nil || len(list) != 1 {
		t.Errorf("a run that begins again keeps %d lines, %v", len(list), err)
	}
}

// A file of an earlier version, without the validation loss, is read, and a run goes on with it.
func TestFirstMetrics(t *testing.T) {
	f := &Folder{t.TempDir()}
	old := firstHeader + "1,0.5,,,,1,2,3,4\n2,0.4,,,,1,2,3,4\n"
	if err := os.WriteFile(f.Path(MetricsFile), []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	m, _, err := f.OpenMetrics(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Append(Epoch{Epoch: 2, Loss: 0.25, ValLoss: 3}), m.Close()); err != nil {
		t.Fatal(err)
	}
	list, err := ReadMetrics(f.Dir)
	if err != nil || len(list) != 2 || list[1].Loss != 0.25 || !math.IsNaN(list[1].ValLoss) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestMetricsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n":                                         "metrics.csv:1: the header",
		secondHeader + "1,2\n":                          "metrics.csv:2: 2 cells, want 10",
		firstHeader + "1,2\n":                           "metrics.csv:2: 2 cells, want 9",
		secondHeader + "x,,,,,,0,0,0,\n":                "metrics.csv:2: ",
		secondHeader + "1,x,,,,,0,0,0,\n":               "metrics.csv:2: ",
		secondHeader + "1,,,,,,0,0,,\n":                 "metrics.csv:2: ",
		secondHeader + "1,,,,,,0,0,0,x\n":               "metrics.csv:2: ",
		secondHeader + "2,,,,,,0,0,0,\n1,,,,,,0,0,0,\n": "metrics.csv:3: epoch 1 after epoch 2",
	} {
		f := &Folder{t.TempDir()}
		if err := os.WriteFile(f.Path(MetricsFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := f.OpenMetrics(3)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		if after, _ := os.ReadFile(f.Path(MetricsFile)); string(after) != text {
			t.Errorf("a file that was refused changed to %q", after)
		}
	}
}

// FuzzMetrics: any text is read or refused, and what is read is within the text.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte(secondHeader+"1,0.5,,,,1,2,3,4,0.7\n2,"), 1)
	f.Add([]byte(firstHeader+"1,0.5,,,,1,2,3,4\n2,"), 1)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		list, end, err := parseMetrics("metrics.csv", text, limit)
		if err == nil && (end > len(text) || end == 0 && len(list) > 0) {
			t.Errorf("%d lines in %d of %d bytes", len(list), end, len(text))
		}
	})
}

// TestLogIsAFile: a log that is a pipe is refused before it is opened, which would wait for a reader.
func TestLogIsAFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, LogFile), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := (&Folder{Dir: dir}).Log(); err == nil || !strings.Contains(err.Error(), LogFile+": not a regular file") {
		t.Error(err)
	}
}
