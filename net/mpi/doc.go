// Package mpi joins the ranks that mpirun, srun or another launcher of MPI has started: a net.Link. Only the build
// with tag mpi has it (make mpi); Open of others is an error (mpi_off.go).
//
// One goroutine, on a thread of its own, makes all calls of MPI (calls.go, loop.go): it posts sends and receives, looks whether
// they are over, and sends heartbeats (beats.go): every rank to the first, which sends them to all. A rank whose
// heartbeats stay away for nearly the timeout is given up: the first says so, or of the first the second, and all end
// (net.Watch).
package mpi

import (
	"cmp"
	"os"
	"strconv"
	"time"
)

// Options of Open.
type Options struct {
	Timeout time.Duration     // without a sign of life a rank is given up after it; 0: 30 s
	Say     func(text string) // is called with the line that tells of a rank that was given up; it may be the last call
}

// Launched is how many processes a launcher of MPI has started with this one, as its environment says; 0: none has.
func Launched() int {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	if os.Getenv("PMIX_RANK") == "" && os.Getenv("PMI_RANK") == "" {
		return 0
	}
	return cmp.Or(number("SLURM_STEP_NUM_TASKS"), number("SLURM_NTASKS"))
}

// Apart is how many processes Slurm's srun (slurm), or another launcher that sets WORLD_SIZE as torchrun does, has started with this one
// where MPI has not joined them (srun --mpi=none); 0: none has, or they are joined.
func Apart() (n int, slurm bool) {
	if Launched() != 0 {
		return 0, false
	}
	if n = number("SLURM_STEP_NUM_TASKS"); n > 1 {
		return n, true
	}
	if n = number("WORLD_SIZE"); n > 1 {
		return n, false
	}
	return 0, false
}

func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}
