package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"sagann/internal/draw"
)

// fullRow is a command that writes files to the folder F, of which too few bytes are left.
type fullRow struct {
	before string // the command with which it goes on, where there is room
	args   string // the command
	writes string // the file or folder that it writes whole or not at all; one that was there stays
	varies bool   // what it writes differs from time to time
	slow   bool   // takes some seconds: in make soak, twice
	again  string // with room it gives this file, as if the disk had never been full
}

// fullRows are the commands that write, by the flags or arguments that say where.
var fullRows = map[string][]fullRow{
	"train out":          {{args: "train --data g.saga --epochs 2 --checkpoint-every 1 --out F/run", again: "F/run/" + checkpointFile}},
	"train resume":       {{before: "train --data g.saga --epochs 1 --out F/run", args: "train --resume F/run --epochs 2", again: "F/run/" + checkpointFile}},
	"train trace":        {{args: "train --data g.saga --epochs 2 --out O/run --trace F/trace", again: "O/run/" + checkpointFile}},
	"train scratch":      {{args: "train --data g.saga --epochs 1 --out O/run --host-mem 9KB --scratch F", again: "O/run/" + checkpointFile}},
	"plan html":          {{args: "plan --data g.saga --machine cpu --html F/p.html", writes: "p.html"}},
	"report out":         {{args: "report run other --out F/r.html", writes: "r.html", varies: true}},
	"report run":         {{before: "train --data g.saga --epochs 1 --out F/run", args: "report F/run", writes: "run", varies: true}},
	"evaluate out":       {{args: "evaluate run --out F/e.csv", writes: "e.csv"}},
	"evaluate scratch":   {{args: "evaluate run --host-mem 9KB --scratch F"}},
	"predict out":        {{args: "predict run --out F/p.csv", writes: "p.csv"}, {args: "predict run --write logits --out F/p.npy", writes: "p.npy"}, {args: "predict run --write probs --out F/p.safetensors", writes: "p.safetensors"}},
	"predict weights":    {{args: "predict --weights w.pt --model gcn --data g.saga --out F/w.csv", writes: "w.csv"}},
	"predict scratch":    {{args: "predict run --host-mem 9KB --scratch F --out O/p.csv", again: "O/p.csv"}},
	"export split":       {{args: "export run --split F/s", writes: "s"}},
	"export pyg":         {{args: "export run --pyg F/w.pt", writes: "w.pt"}, {args: "export run --pyg F/w.safetensors", writes: "w.safetensors"}},
	"embed out":          {{args: "embed run --out F/e.csv", writes: "e.csv"}, {args: "embed --data g.saga --walks deepwalk --dims 8 --out F/d.npy", writes: "d.npy"}},
	"embed scratch":      {{args: "embed run --host-mem 9KB --scratch F --out O/e.npy", again: "O/e.npy"}},
	"sample out":         {{args: "sample --data g.saga --sampler neighbours:2,2 --out F/s.csv", writes: "s.csv"}, {args: "sample --data g.saga --sampler neighbours:2,2 --out F/s.npy", writes: "s.npy"}},
	"walk out":           {{args: "walk --data w.saga --length 50 --out F/w.txt", writes: "w.txt"}, {args: "walk --data w.saga --length 50 --out F/w.npy", writes: "w.npy"}},
	"mine match out":     {{args: "mine match --data labelled.saga --pattern path3 --out F/m.csv", writes: "m.csv"}, {args: "mine match --data labelled.saga --pattern path3 --out F/m.npy", writes: "m.npy"}},
	"mine fpm out":       {{args: "mine fpm --data labelled.saga --support 2 --edges 3 --out F/p.csv", writes: "p.csv"}, {args: "mine fpm --data labelled.saga --support 2 --edges 2 --examples 2 --out F/p.csv", writes: "p.csv"}},
	"mine fpm domains":   {{args: "mine fpm --data labelled.saga --support 2 --edges 3 --out O/p.csv --domains F/d.npy", writes: "d.npy", again: "O/p.csv"}, {args: "mine fpm --data labelled.saga --support 2 --edges 3 --domains F/d.csv", writes: "d.csv"}},
	"mine fpm resume":    {{args: "mine fpm --data labelled.saga --support 2 --edges 3 --resume F/sizes --out O/p.csv", again: "O/p.csv"}},
	"bench mine scratch": {{args: "bench mine --tables sort --keys 20000 --scratch F"}},
	"bench ablation svg": {{args: "bench ablation --models gcn --shape vertices=2000,edges=9e3,features=8,classes=3 --work 1000 --svg F/a.svg", writes: "a.svg", varies: true, slow: true}},
	"data convert out":   {{args: "data convert g.saga --out F/c.saga", writes: "c.saga"}, {args: "data convert g.saga --format npy --out F/c", writes: "c"}},
	"data shard out":     {{args: "data shard g.saga --owners 2 --out F/s", writes: "s"}},
	"data generate out":  {{args: "data generate vertices=500,edges=2000,features=3,classes=2 --out F/g.saga", writes: "g.saga"}, {args: "data generate vertices=500,edges=2000,features=3,classes=2 --format npy --out F/g", writes: "g"}},
	"topo out":           {{args: "topo --measure --device cpu --out F/m.json", writes: "m.json", varies: true, slow: true}},
	"key file":           {{args: "key F/k", writes: "k", varies: true}},
}

// filesRead are flags and arguments that name files which are read, or, for some commands, never made.
var filesRead = map[string]bool{"data": true, "from": true, "config": true, "labels": true, "edges": true, "vertices": true, "seeds": true, "pairs": true, "peers-secret": true,
	"nccl": true, "embed weights": true, "path": true, "run": true, "spec": true, "shell": true, "plan scratch": true, "kernels scratch": true}

// fullBytes is the environment variable that says how large a file can be in saga-on-a-full-disk.
const fullBytes = "SAGA_TEST_FILE_BYTES"

// TestFullDisk: where a file can be no larger than some bytes and, in make soak and as root, on disks of rising sizes, every command
// that writes a file says which one it could not write, leaves what was whole, and nothing beside it; with room it then does what it would
// have done. A flag that names a file needs a row in fullRows, or one in filesRead.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs every command that writes several times")
	}
	allCommands(func(command string, flags []*kong.Flag) {
		for _, f := range flags {
			if key := command + " " + f.Name; (f.PlaceHolder == "FILE" || f.PlaceHolder == "DIR" || f.PlaceHolder == "PATH") && fullRows[key] == nil && !filesRead[f.Name] && !filesRead[key] {
				t.Errorf("%s --%s names a file: no row in fullRows", command, f.Name)
			}
		}
	})
	data := flagData(t)
	for name, rows := range fullRows {
		for i, x := range rows {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				if x.slow && !draw.Soak() {
					t.Skip("takes some seconds")
				}
				x.sweep(t, data)
			})
		}
	}
}

// sweep runs x with rising limits until it ends well; in make test with two limits.
func (x *fullRow) sweep(t *testing.T, data string) {
	whole := x.folder(t, data, 0)
	if out, err := x.command(t, data, whole, x.args).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	limits := []int{40, 4000}
	if draw.Soak() && !x.slow {
		limits = []int{0}
		for n := 1; n <= 1<<20; n *= 2 {
			limits = append(limits, n)
		}
	}
	for _, n := range limits {
		dir := x.folder(t, data, 0)
		c := x.command(t, data, dir, x.args)
		c.Args[0] = "saga-on-a-full-disk"
		c.Env = append(c.Environ(), fullBytes+"="+strconv.Itoa(n))
		if x.run(t, c, fmt.Sprintf("files of %d bytes", n), data, dir, whole) {
			break
		}
	}
	for n := 4096; n <= 1<<22 && draw.Soak(); n *= 2 {
		dir := x.folder(t, data, n)
		if dir == "" {
			t.Log("no disks of given sizes: not root")
			break
		}
		if x.run(t, x.command(t, data, dir, x.args), fmt.Sprintf("a disk with %d bytes left", n), data, dir, whole) {
			break
		}
	}
}

// folder makes a folder for a run, with F, O and what is there before it. If left is not 0, F is a disk with no more bytes left than
// that; the result is "" if the process may not mount one.
func (x *fullRow) folder(t *testing.T, data string, left int) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"F", "O"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	full := filepath.Join(dir, "F")
	if left > 0 {
		if err := syscall.Mount("full", full, "tmpfs", 0, "size=64m"); err != nil {
			return ""
		}
		t.Cleanup(func() { _ = syscall.Unmount(full, 0) })
	}
	if x.before != "" {
		if out, err := x.command(t, data, dir, x.before).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", x.before, err, out)
		}
	}
	if command := strings.Fields(x.args)[0]; x.writes != "" && command != "data" && command != "key" && x.writes != "s" && x.before == "" { // those do not overwrite
		if err := os.WriteFile(filepath.Join(full, x.writes), []byte("what was there\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if left > 0 {
		var s syscall.Statfs_t
		if err := syscall.Statfs(full, &s); err != nil {
			t.Fatal(err)
		}
		size := int64(s.Blocks-s.Bfree)*s.Bsize + int64(left)
		if err := syscall.Mount("full", full, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command is a command on data whose folders F and O are in dir.
func (x *fullRow) command(t *testing.T, data, dir, args string) *exec.Cmd {
	t.Helper()
	list := strings.Fields(args)
	for i, a := range list {
		if a == "F" || strings.HasPrefix(a, "F/") || strings.HasPrefix(a, "O/") {
			list[i] = filepath.Join(dir, a)
		}
	}
	c := command(t, list...)
	c.Dir, c.Env = data, append(os.Environ(), "TMPDIR="+filepath.Join(dir, "O"))
	return c
}

// run runs c in dir, and tells whether it ended well, then with what whole has.
func (x *fullRow) run(t *testing.T, c *exec.Cmd, what, data, dir, whole string) bool {
	t.Helper()
	full := filepath.Join(dir, "F")
	before := bytesIn(t, full)
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch after := bytesIn(t, full); {
	case err == nil && x.writes != "" && !x.varies && !reflect.DeepEqual(after, bytesIn(t, filepath.Join(whole, "F"))):
		t.Errorf("%s: %s ends well, with other files:\n%q\n%s", what, x.args, after, text)
	case err == nil:
		return true
	case !errors.As(err, &exit) || exit.ExitCode() != exitFailure || bytes.Contains(text, []byte("goroutine ")):
		t.Errorf("%s: %s: %v\n%s", what, x.args, err, text)
	case !bytes.Contains(text, []byte(dir)):
		t.Errorf("%s: %s: no file is named\n%s", what, x.args, text)
	case bytes.Contains(text, []byte("no space left on device")) && !bytes.Contains(text, []byte(" free")):
		t.Errorf("%s: %s: nothing says what is free\n%s", what, x.args, text)
	case x.writes != "" && !reflect.DeepEqual(after, before):
		t.Errorf("%s: %s leaves %s of %s\n%s", what, x.args, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)), text)
	case x.again != "":
		x.goOn(t, what, data, dir, whole)
	}
	return false
}

// bytesIn is the content of the files below dir.
func bytesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, wrong error) error {
		if wrong != nil {
			return wrong
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || e.IsDir() {
			files[name+"/"] = ""
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// goOn runs x with room for its files, where it has failed, and compares the file again.
func (x *fullRow) goOn(t *testing.T, what, data, dir, whole string) {
	t.Helper()
	full := filepath.Join(dir, "F")
	_ = syscall.Mount("full", full, "tmpfs", syscall.MS_REMOUNT, "size=64m")
	args, run := x.args, filepath.Dir(filepath.Join(dir, x.again))
	values := func(dir string) []byte {
		if filepath.Base(x.again) == checkpointFile {
			return valuesIn(t, filepath.Dir(filepath.Join(dir, x.again)))
		}
		text, err := os.ReadFile(filepath.Join(dir, x.again))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if _, err := os.Stat(filepath.Join(run, checkpointFile)); err == nil && x.before == "" {
		args = "train --resume " + run
	}
	text, err := x.command(t, data, dir, args).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %s, then, with room, %s: %v\n%s", what, x.args, args, err, text)
	} else if !bytes.Equal(values(dir), values(whole)) {
		t.Errorf("%s: %s, then, with room, %s: another %s", what, x.args, args, x.again)
	}
}
