package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"sagann/internal/draw"
	"sagann/internal/safetensors"
)

func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0 // as in the command, where nothing reads this profile; each collection goes through all of it
	testscript.Main(inProcess{m}, map[string]func(){"saga": mainMeasured, "saga-on-a-full-disk": mainOnAFullDisk, "saga-that-stops": mainThatStops})
}

// inProcess runs tests. Commands in the process of the tests plan much and keep little, so garbage is collected less often;
// those that are processes of their own collect it as users have it.
type inProcess struct{ *testing.M }

func (p inProcess) Run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(testGC)
	}
	os.Unsetenv("GOGC")
	return p.M.Run()
}

// testGC is what TestMain sets GOGC to.
const testGC = 400

// runHere is run. A command over shards or sparse features has garbage collected often until its process ends: not here.
func runHere(args []string, stdout, stderr *os.File) int {
	defer debug.SetGCPercent(testGC)
	return run(args, stdout, stderr)
}

// mainOnAFullDisk is the command where no file can have more than 4096 bytes, or as many as fullBytes says: writes beyond
// them fail as they do on a full disk.
func mainOnAFullDisk() {
	signal.Ignore(syscall.SIGXFSZ)
	most := uint64(4096)
	if text := os.Getenv(fullBytes); text != "" {
		var err error
		if most, err = strconv.ParseUint(text, 10, 64); err != nil {
			panic(err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		panic(err)
	}
	main()
}

// TestScripts runs testdata/*.txtar: conversations with the command. What stands behind the condition soak runs in make soak only.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", Condition: condition, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"status":      cmdStatus,
		"empty":       cmdEmpty,
		"lines":       cmdLines,
		"atmost":      cmdAtMost,
		"damage":      cmdDamage,
		"truncate":    cmdTruncate,
		"smallest":    cmdSmallest,
		"fits":        cmdFits,
		"sametensors": cmdSameTensors,
	}})
}

// condition is what scripts ask beside what testscript knows.
func condition(name string) (bool, error) {
	if name == "soak" {
		return draw.Soak(), nil
	}
	return false, fmt.Errorf("unknown condition %s", name)
}

// cmdStatus: status N COMMAND ... runs a command that must exit with N.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		if m := regexp.MustCompile(`exit status (\d+)`).FindStringSubmatch(err.Error()); m != nil {
			code, _ = strconv.Atoi(m[1])
		}
	}
	if want, _ := strconv.Atoi(args[0]); code != want || neg {
		ts.Fatalf("status %d (%v), want %s", code, err, args[0])
	}
}

// cmdEmpty: empty DIR says that nothing was written there but what scripts need.
func cmdEmpty(ts *testscript.TestScript, _ bool, args []string) {
	list, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range list {
		if name := e.Name(); name != ".tmp" && name != "in" {
			ts.Fatalf("%s was written", name)
		}
	}
}

// cmdLines: lines FILE N counts lines.
func cmdLines(ts *testscript.TestScript, _ bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], n, args[1])
	}
}

// cmdAtMost: atmost FILE ... N counts the lines that are not of epochs.
func cmdAtMost(ts *testscript.TestScript, _ bool, args []string) {
	n, most := 0, args[len(args)-1]
	for _, name := range args[:len(args)-1] {
		for line := range strings.Lines(ts.ReadFile(name)) {
			if !strings.HasPrefix(line, "epoch ") {
				n++
			}
		}
	}
	if m, err := strconv.Atoi(most); err != nil || n > m {
		ts.Fatalf("%d lines beside the epochs, want at most %s", n, most)
	}
}

// cmdDamage: damage FROM TO BACK flips a bit of the byte BACK before the end.
func cmdDamage(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	back, err := strconv.Atoi(args[2])
	ts.Check(err)
	text[len(text)-back] ^= 4
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o666))
}

// cmdTruncate: truncate FROM TO writes the first half.
func cmdTruncate(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:len(text)/2]), 0o666))
}

// cmdSmallest puts the budget that the last error named into $SMALLEST.
func cmdSmallest(ts *testscript.TestScript, _ bool, _ []string) {
	m := regexp.MustCompile(`would do is .*?(\d+) bytes`).FindStringSubmatch(ts.ReadFile("stderr"))
	if m == nil {
		ts.Fatalf("no smallest budget is named")
	}
	ts.Setenv("SMALLEST", m[1])
}

// cmdFits checks the last JSON object against $SMALLEST.
func cmdFits(ts *testscript.TestScript, _ bool, _ []string) {
	var got struct {
		Budget int64 `json:"budget_bytes"`
		Peak   int64 `json:"peak_device_bytes"`
		Chunks int
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &got))
	if strconv.FormatInt(got.Budget, 10) != ts.Getenv("SMALLEST") || got.Peak > got.Budget || got.Peak <= 0 || got.Chunks < 2 {
		ts.Fatalf("%+v under a budget of %s", got, ts.Getenv("SMALLEST"))
	}
}

// cmdSameTensors: sametensors RUN RUN compares two checkpoints bit for bit.
func cmdSameTensors(ts *testscript.TestScript, neg bool, args []string) {
	d := compareRuns(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	switch {
	case neg && d == "":
		ts.Fatalf("%s and %s have the same tensors", args[0], args[1])
	case !neg && d != "":
		ts.Fatalf("%s", d)
	}
}

// compareRuns compares the tensors of the checkpoints of two run folders.
func compareRuns(a, b string) string {
	x, err := tensors(filepath.Join(a, checkpointFile))
	if err != nil {
		return err.Error()
	}
	y, err := tensors(filepath.Join(b, checkpointFile))
	if err != nil {
		return err.Error()
	}
	return cmp.Diff(x, y)
}

func tensors(path string) (map[string][]float32, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string][]float32{}
	for _, name := range f.Names() {
		if all[name], _, err = safetensors.Load[float32](f, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}
