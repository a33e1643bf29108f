// Package mpi is a net.Link between ranks that mpirun, srun or another MPI launcher has started. It needs a build
// with the tag mpi (make mpi); in other builds Open is an error (mpi_off.go).
//
// One goroutine, locked to its thread, makes all calls of MPI (calls.go, loop.go). It posts sends and receives,
// checks whether they have completed, and sends heartbeats (beats.go) between rank 0 and every other rank. If
// a rank sends no heartbeat for nearly the timeout, all ranks end (net.Watch). Rank 0 reports this; if rank 0 is
// the silent one, rank 1 does.
package mpi

import (
	"cmp"
	"os"
	"strconv"
	"time"
)

// Options of Open.
type Options struct {
	Timeout time.Duration     // longest silence of a rank before all ranks end; 0: 30 s
	Say     func(text string) // is called with the message about a rank that was given up; the process may end right after
}

// Launched is how many processes an MPI launcher has started together with this one, this one included, as the
// environment says; 0: no launcher has.
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

// Apart is how many processes were started together with this one and are not connected by MPI: by Slurm's srun
// (slurm), as with srun --mpi=none, or by another launcher that sets WORLD_SIZE, such as torchrun. It is 0 if no
// such launcher was used, or MPI connects the processes.
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
