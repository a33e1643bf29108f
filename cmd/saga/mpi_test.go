package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
	"sagann/saga"
)

// mpiBuild is saga built with MPI, once.
var mpiBuild = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "saga-mpi-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "saga")
	flags, err := exec.Command("bash", "../../net/mpi/flags.sh").Output()
	if err != nil {
		return "", err
	}
	text, err := exec.Command("bash", "-c", string(flags)+"\ngo build -tags mpi -o "+exe+" .").CombinedOutput()
	if err != nil {
		err = errors.Join(err, errors.New(string(text)))
	}
	return exe, err
})

// mpirun is saga on so many ranks of this host.
func mpirun(t *testing.T, ranks int, args ...string) *exec.Cmd {
	t.Helper()
	for _, tool := range []string{"mpirun", "mpicc", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("ranks over MPI: %s is not on PATH (Debian: libopenmpi-dev openmpi-bin)", tool)
		}
	}
	if testing.Short() {
		t.Skip("builds saga with MPI and runs it")
	}
	exe, err := mpiBuild()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("mpirun", append([]string{"-n", strconv.Itoa(ranks), exe}, args...)...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	t.Cleanup(func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		}
	})
	return c
}

const mpiData = "synthetic:vertices=2000,edges=20K,features=12,classes=4,seed=1"

// TestMPI: 2 and 4 ranks over MPI write the checkpoint of one process, say once what they do, log to files of their
// own, and go on with a run of another number of ranks.
func TestMPI(t *testing.T) {
	t.Parallel()
	mpirun(t, 1) // or skip
	dir := t.TempDir()
	train := func(ranks int, args ...string) (file []byte, text string) {
		t.Helper()
		args = append([]string{"train"}, args...)
		c := command(t, args...)
		if ranks > 1 {
			c = mpirun(t, ranks, args...)
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if file, err = os.ReadFile(filepath.Join(dir, "run", checkpointFile)); err != nil {
			t.Fatal(err)
		}
		return file, string(out)
	}
	begin := func(ranks, epochs int) (file []byte, text string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, "run")); err != nil {
			t.Fatal(err)
		}
		return train(ranks, "--data", mpiData, "--model", "ggcn", "--dropout", "0.2", "--owners", "4", "--chunks", "8", "--epochs", strconv.Itoa(epochs), "--out", filepath.Join(dir, "run"))
	}
	want, _ := begin(1, 4)
	for _, n := range []int{2, 4} {
		got, text := begin(n, 4)
		if !bytes.Equal(got, want) {
			t.Errorf("%d ranks: another checkpoint than that of one process", n)
		}
		if k := strings.Count("\n"+text, "\nmodel "); k != 1 {
			t.Errorf("%d ranks: the run is told of %d times:\n%s", n, k, text)
		}
		if _, err := os.Stat(filepath.Join(dir, "run", "log.rank1.txt")); err != nil {
			t.Error(err)
		}
	}
	begin(4, 2)
	if got, _ := train(2, "--resume", filepath.Join(dir, "run"), "--epochs", "4"); !bytes.Equal(got, want) {
		t.Error("a run of 4 ranks that goes on with 2 ends in another checkpoint")
	}
}

// TestMPIUsage: what is wrong on all ranks is said once, and the exit status is that of a usage error.
func TestMPIUsage(t *testing.T) {
	t.Parallel()
	out, err := mpirun(t, 2, "train", "--data", "karate").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || strings.Count(string(out), "cannot be dealt to 2 ranks") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMPIDeath: a rank that is killed or stopped ends all processes soon, with one line that names rank, host, epoch and
// task; the run then goes on from its checkpoint. make soak does it three times each.
func TestMPIDeath(t *testing.T) {
	t.Parallel() // it waits most of its time
	times := 1
	if draw.Soak() {
		times = 3
	}
	for range times {
		for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				mpiDeath(t, signal)
			})
		}
	}
}

func mpiDeath(t *testing.T, signal syscall.Signal) {
	dir := filepath.Join(t.TempDir(), "run")
	c := mpirun(t, 4, "train", "--data", mpiData, "--model", "ggcn", "--owners", "4", "--chunks", "8", "--epochs", "1000000", "--checkpoint-every", "2", "--net-timeout", "4s", "--out", dir)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if _, err := os.Stat(filepath.Join(dir, checkpointFile)); err == nil {
			break
		}
		if i == 600 {
			t.Fatalf("no checkpoint after a minute:\n%s", &out)
		}
		time.Sleep(100 * time.Millisecond)
	}
	pids := ranksOf(t, dir)
	if len(pids) != 4 || pids[2] == 0 {
		t.Fatalf("processes of ranks: %v", pids)
	}
	limit := time.Minute // of a hang
	if draw.Soak() {
		limit = 10 * time.Second // what is promised, on a machine with nothing else to do
	}
	start := time.Now()
	if err := syscall.Kill(pids[2], signal); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if err == nil {
		t.Error("mpirun ends with status 0")
	}
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil && time.Since(start) < limit {
			time.Sleep(50 * time.Millisecond)
		}
	}
	if took := time.Since(start); took > limit {
		t.Errorf("the ranks are gone after %v", took)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "no sign of life") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "rank 2 (host ") || !strings.Contains(lines[0], "it was at: epoch ") {
		t.Errorf("the ranks say %q\n%s", lines, &out)
	}
	t.Logf("%.1f s, %v: %s", time.Since(start).Seconds(), err, strings.Join(lines, ""))
	file, err := saga.ReadCheckpoint(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := mpirun(t, 2, "train", "--resume", dir, "--epochs", strconv.Itoa(file.Epoch+1)).CombinedOutput(); err != nil {
		t.Errorf("the run does not go on with 2 ranks: %v\n%s", err, text)
	}
}

// ranksOf are the processes of a run by rank, found by their environment.
func ranksOf(t *testing.T, dir string) map[int]int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	pids := map[int]int{}
	for _, path := range all {
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if !bytes.Contains(line, []byte(dir)) || bytes.HasPrefix(line, []byte("mpirun")) {
			continue
		}
		env, _ := os.ReadFile(path)
		for word := range strings.SplitSeq(string(env), "\x00") {
			if n, ok := strings.CutPrefix(word, "OMPI_COMM_WORLD_RANK="); ok {
				rank, _ := strconv.Atoi(n)
				pids[rank], _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			}
		}
	}
	return pids
}
