//go:build !mpi

package mpi

import (
	"errors"

	"sagann/net"
)

// Open connects the ranks that were started together. This binary was built without MPI, so it returns an
// error that says how to build one with it.
func Open(Options) (net.Link, error) {
	return nil, errors.New("this program was built without MPI: make mpi builds bin/saga with it, make cuda-mpi for GPUs")
}
