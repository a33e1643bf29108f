//go:build cuda

package device

/*
#include <cuda.h>

// 0: through host memory, 1: over PCI, 2: over a link that carries atomic operations.
static int saga_peer_way(CUdevice from, CUdevice to, int *way) {
	int can = 0, atomics = 0, r = cuDeviceCanAccessPeer(&can, to, from); // to copies, so it reads
	if (r) return r;
	if (can) r = cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, to, from);
	*way = can ? 1 + (atomics != 0) : 0;
	return r;
}

static int saga_memory(CUcontext ctx, size_t *free, size_t *total) {
	int r = cuCtxSetCurrent(ctx);
	return r ? r : cuMemGetInfo(free, total);
}
*/
import "C"

import (
	"errors"
	"fmt"
)

// CUDASystem asks the CUDA driver for its GPUs; none is an error.
func CUDASystem() (System, error) {
	n, err := cuGPUs()
	if err != nil {
		return nil, fmt.Errorf("GPUs of the CUDA driver: %w", err)
	}
	if n == 0 {
		return nil, errors.New("the CUDA driver finds no GPU")
	}
	s := &cudaSystem{}
	for i := range n {
		d, err := cuDevice(i)
		if err != nil {
			return nil, fmt.Errorf("cuda:%d: %w", i, err)
		}
		s.gpus = append(s.gpus, d)
	}
	return s, nil
}

type cudaSystem struct{ gpus []int }

func (s *cudaSystem) GPUs() int { return len(s.gpus) }

func (s *cudaSystem) check(gpus ...int) error {
	for _, i := range gpus {
		if i < 0 || i >= len(s.gpus) {
			return fmt.Errorf("cuda:%d: there are %d GPUs", i, len(s.gpus))
		}
	}
	return nil
}

func (s *cudaSystem) Name(i int) (string, error) {
	if err := s.check(i); err != nil {
		return "", err
	}
	name, err := cuName(s.gpus[i])
	if err != nil {
		return "", fmt.Errorf("cuda:%d: name: %w", i, err)
	}
	return name, nil
}

func (s *cudaSystem) Bus(i int) (string, error) {
	if err := s.check(i); err != nil {
		return "", err
	}
	bus := cuBus(s.gpus[i])
	if bus == "" {
		return "", fmt.Errorf("cuda:%d: the driver gives no PCI address", i)
	}
	return bus, nil
}

func (s *cudaSystem) Peer(from, to int) (PeerAccess, error) {
	if err := s.check(from, to); err != nil {
		return PeerNone, err
	}
	if from == to {
		return PeerNone, fmt.Errorf("cuda:%d is not a peer of itself", from)
	}
	var way C.int
	if err := cuErr(C.saga_peer_way(C.CUdevice(s.gpus[from]), C.CUdevice(s.gpus[to]), &way)); err != nil {
		return PeerNone, fmt.Errorf("peer access from cuda:%d to cuda:%d: %w", from, to, err)
	}
	return PeerAccess(way), nil
}

func (s *cudaSystem) Card(i int) (c Card, err error) {
	if err := s.check(i); err != nil {
		return c, err
	}
	if c, err = cuCard(s.gpus[i]); err != nil {
		err = fmt.Errorf("cuda:%d: %w", i, err)
	}
	return c, err
}

// cuCard describes a GPU, by NVML or, where that tells nothing, by opening it.
func cuCard(dev int) (c Card, err error) {
	if c.Name, err = cuName(dev); err != nil {
		return c, fmt.Errorf("name: %w", err)
	}
	if c.Total, err = cuTotal(dev); err != nil {
		return c, fmt.Errorf("memory: %w", err)
	}
	c.Bus = cuBus(dev)
	if nvmlTell(&c, cuLiving(dev)) {
		return c, nil
	}
	ctx, err := cuOpenContext(dev)
	if err != nil {
		return c, fmt.Errorf("context: %w", err)
	}
	var f, t C.size_t
	if err := errors.Join(cuErr(C.saga_memory(ctx, &f, &t)), cuCloseContext(dev)); err != nil {
		return c, fmt.Errorf("memory: %w", err)
	}
	c.Total, c.Free = int64(t), int64(f)
	return c, nil
}
