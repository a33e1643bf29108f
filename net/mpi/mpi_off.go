//go:build !mpi

package mpi

import (
	"errors"

	"sagann/net"
)

// Open joins the ranks that were started together; nil where this process was started alone.
func Open(Options) (net.Link, error) {
	return nil, errors.New("this program was built without MPI: make mpi builds bin/saga with it, make cuda-mpi for GPUs")
}
