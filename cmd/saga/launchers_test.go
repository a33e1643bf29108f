package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asSrun starts programs as srun --mpi=pmix does, of which mpirun brings the process manager: without what mpirun alone sets.
const asSrun = `#!/bin/bash
while [[ $1 == --* ]]; do shift; done
exec mpirun -n 4 env -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_RANK -u PMI_SIZE SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 "$@"
`

// launched is a script of docs/hosts.md, from the line that has first to the one that has last, with the folder dir for /shared.
func launched(t *testing.T, first, last, dir string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, ok := strings.Cut(string(text), first)
	script, _, has := strings.Cut(script, last)
	if !ok || !has {
		t.Fatalf("docs/hosts.md has no lines from %q to %q", first, last)
	}
	return strings.ReplaceAll(first+script+last, "/shared", dir)
}

// TestLaunchers: the scripts for Slurm and for Kubernetes' MPIJob train, and when they are started again they go on from the checkpoint. Neither
// Slurm nor Kubernetes is here: a script stands for srun, and mpirun starts all ranks on this host.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	mpirun(t, 1) // or skip
	exe, err := mpiBuild()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, first, last string }{
		{"slurm", "#!/bin/bash", "saga train $run"},
		{"mpijob", `run="--data /shared/shards --model sage --owners 4 --checkpoint-every 1 --out /shared/run"` + "\n                  ", "-n 4 saga train $run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			bin := filepath.Join(dir, "bin")
			for _, err := range []error{os.Mkdir(bin, 0o777), os.Symlink(exe, filepath.Join(bin, "saga")), os.WriteFile(filepath.Join(bin, "srun"), []byte(asSrun), 0o777)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{
				{"data", "generate", "--out", filepath.Join(dir, "graph.saga"), "vertices=400,edges=4000,features=8,classes=3,seed=1"},
				{"data", "shard", "--data", filepath.Join(dir, "graph.saga"), "--owners", "4", "--out", filepath.Join(dir, "shards")},
			} {
				if out, err := command(t, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			script := launched(t, c.first, c.last, dir)
			run := func(script string) string {
				t.Helper()
				cmd := exec.Command("bash", "-c", script)
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SLURM_CPUS_PER_TASK=1",
					"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s\n%s", err, script, out)
				}
				return string(out)
			}
			out := run(strings.ReplaceAll(script, "train $run", "train $run --epochs 3"))
			if strings.Count("\n"+out, "\nmodel ") != 1 || !strings.Contains(out, "between 4 ranks") {
				t.Errorf("it is no run of four ranks:\n%s", out)
			}
			if out = run(strings.ReplaceAll(script, "train $run", "train $run --epochs 5")); !strings.Contains(out, "epoch 5/5") || strings.Contains(out, "epoch 3/5") || !strings.Contains(out, "between 4 ranks") {
				t.Errorf("it does not go on after three epochs:\n%s", out)
			}
		})
	}
}

// TestSlurmPeers: the script for Slurm without MPI trains, and goes on when it is started again. Two addresses of this host stand for two hosts.
func TestSlurmPeers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const scontrol = "#!/bin/bash\n[ \"$*\" = \"show hostnames\" ] && printf '127.0.0.1\\n127.0.0.2\\n'\n"
	const srun = `#!/bin/bash
while [[ $1 == --* ]]; do shift; done
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "$@" & other=$!
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 "$@"; status=$?
wait $other && exit $status
`
	for _, err := range []error{
		os.Mkdir(bin, 0o777), os.Symlink(exe, filepath.Join(bin, "saga")),
		os.WriteFile(filepath.Join(bin, "srun"), []byte(srun), 0o777), os.WriteFile(filepath.Join(bin, "scontrol"), []byte(scontrol), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command(t, "data", "generate", "--out", filepath.Join(dir, "edges.saga"), "vertices=400,edges=4000,features=8,classes=3,seed=1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("one address of this host is not enough:", err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	script := launched(t, "#!/bin/bash\n    #SBATCH --nodes=2 ", `SLURM_PROCID $run"`, dir)
	if out, err := command(t, "key", filepath.Join(dir, ".saga-secret")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script = strings.NewReplacer(":7000", ":"+port, "--device cuda --owners 16", "--owners 4").Replace(script)
	for _, epochs := range []string{"3", "5"} {
		cmd := exec.Command("bash", "-c", strings.ReplaceAll(script, `$run"`, `$run --epochs `+epochs+`"`))
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SLURM_CPUS_PER_TASK=1", "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if text := string(out); err != nil || !strings.Contains(text, "epoch "+epochs+"/"+epochs) || !strings.Contains(text, "between 2 ranks") || epochs == "5" && strings.Contains(text, "epoch 3/5") {
			t.Fatalf("%v\n%s\n%s", err, script, text)
		}
	}
}

// TestAlone: processes that srun or torchrun starts, without MPI, are told so; they would train one by one.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		env  string
		told string // "": nothing
	}{
		{"SLURM_STEP_NUM_TASKS=4", "srun --mpi="}, {"SLURM_STEP_NUM_TASKS=1", ""}, {"SLURM_NTASKS=4", ""}, // the last as in a batch script
		{"WORLD_SIZE=2 RANK=1", "--peers and --rank"}, {"WORLD_SIZE=1 RANK=0", ""},
	} {
		cmd := command(t, "train", "--data", "karate", "--epochs", "1", "--out", filepath.Join(t.TempDir(), "run"))
		cmd.Env = append(os.Environ(), strings.Fields(c.env)...)
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &log)
		}
		for _, text := range []string{"srun --mpi=", "--peers and --rank"} {
			if strings.Contains(log.String(), text) != (text == c.told) {
				t.Errorf("%s: %q\n%s", c.env, text, &log)
			}
		}
	}
}
