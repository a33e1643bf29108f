package mpi

import (
	"os"
	"strings"
	"testing"
)

// TestLaunched: what launchers tell their processes of their number, and what stands in the environment of a process alone.
func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		env  string
		want int
	}{
		{"", 0},
		{"OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=1", 4},                        // mpirun of Open MPI
		{"PMI_RANK=1 PMI_SIZE=2", 2},                                     // of MPICH, and srun --mpi=pmi2
		{"PMIX_RANK=0 SLURM_NTASKS=8", 8},                                // srun --mpi=pmix
		{"PMIX_RANK=0 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2", 2},         // a part of the job
		{"SLURM_NTASKS=8 SLURM_PROCID=0", 0},                             // a batch script
		{"SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=3", 0},      // srun --mpi=none
		{"OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 SLURM_STEP_NUM_TASKS=8", 1}, // mpirun -n 1 in a step
	} {
		for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "WORLD_SIZE"} {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
		for _, x := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(x, "=")
			t.Setenv(name, value)
		}
		if n := Launched(); n != c.want {
			t.Errorf("%q: %d processes, want %d", c.env, n, c.want)
		}
		apart, slurm := Apart()
		if want := strings.HasSuffix(c.env, "SLURM_PROCID=3"); (apart == 8) != want || slurm != want {
			t.Errorf("%q: %d processes that know nothing of each other, by srun: %t", c.env, apart, slurm)
		}
		t.Setenv("WORLD_SIZE", "5")
		if apart, slurm := Apart(); (apart == 5 && !slurm) != (c.want == 0 && !strings.HasSuffix(c.env, "SLURM_PROCID=3")) {
			t.Errorf("%q and WORLD_SIZE=5: %d processes that know nothing of each other, by srun: %t", c.env, apart, slurm)
		}
	}
}
