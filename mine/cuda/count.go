package cuda

import (
	"fmt"

	"sagann/device"
	"sagann/mine/run"
)

// blocks is how many blocks a kernel has: several for each multiprocessor of the largest
// GPUs, which have 132.
const blocks = 132 * 8

// Cliques counts the cliques of k vertices, 3 to 8.
func (g *Graph) Cliques(k int) (run.Total, error) {
	if k < 3 || k > 8 {
		return run.Total{}, fmt.Errorf("cliques of %d vertices: the kernels count those of 3 to 8", k)
	}
	held := len(g.held)
	total, err := g.cliques(k)
	for _, m := range g.held[held:] {
		if e := g.gpu.Free(m); err == nil {
			err = e
		}
	}
	g.held = g.held[:held]
	return total, err
}

func (g *Graph) cliques(k int) (total run.Total, err error) {
	out, err := g.alloc(8 * (blocks + 1)) // a sum a block, and the number of the next root
	if err != nil {
		return total, err
	}
	call := device.Call{Grid: [3]uint32{blocks, 1, 1}, Block: threads}
	source, name, args := triangles(), "saga_triangles", []device.Mem{g.address, g.degree, g.from, g.first}
	var scratch device.Mem
	room, wide := int64(0), int64((g.most+31)/32|1)
	if k > 3 {
		source, name, args = cliques(k), "saga_cliques", []device.Mem{g.order, g.address, g.degree}
		// Words of shared memory that neighbours and sets leave for the matrix.
		room = sharedMax/4 - 16 - int64(g.most) - warps*int64(k-4)*wide
		call.Shared = sharedMax - 64
		if int64(g.most)*wide > room {
			if scratch, err = g.alloc(4 * blocks * int64(g.most) * wide); err != nil {
				return total, err
			}
		}
	}
	kernel := device.GPUFunc(name, func(d device.GPU) (device.Batch, error) {
		f, err := d.Compile(source, []string{name})
		if err != nil {
			return nil, err
		}
		call.Func, call.Args = f[0], nil
		for _, m := range args {
			at, err := d.Address(m)
			if err != nil {
				return nil, err
			}
			call.Args = append(call.Args, at)
		}
		sums, err := d.Address(out)
		if err != nil {
			return nil, err
		}
		if k == 3 {
			call.Args = append(call.Args, uint64(g.edges), sums)
		} else {
			at := uint64(0)
			if scratch.Len() > 0 {
				if at, err = d.Address(scratch); err != nil {
					return nil, err
				}
			}
			call.Args = append(call.Args, uint64(g.rows.V()), at, uint64(g.most), uint64(room), sums+8*blocks, sums)
		}
		return d.Prepare([]device.Command{{Clear: &device.Clear{Addr: sums, Bytes: out.Len()}}, {Call: &call}})
	})
	if err := g.gpu.Launch(g.queue, kernel); err != nil {
		return total, err
	}
	sums := make([]uint64, blocks)
	if err := g.gpu.CopyD2H(g.queue, bytesOf(sums), out, 0); err != nil {
		return total, err
	}
	if err := g.gpu.Sync(); err != nil {
		return total, err
	}
	for _, n := range sums {
		total.Add(n)
	}
	return total, nil
}
