package mine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	rowtable "sagann/mine/table"
)

// stored prints how long GPUs take to store all connected sets of edges and to count them by a key: with all memory, with a quarter of the table's bytes
// on each GPU and other parts, and with half of them in host memory, too.
func (t *table) stored() error {
	r, err := t.c.rows()
	if err != nil {
		return err
	}
	fmt.Printf("%d vertices, %d edges, rows of %d edges; key: label of the first vertex + label of the last\n", r.V(), r.Edges(), t.c.Find.Edges)
	rate, err := t.linkRates()
	if err != nil {
		return err
	}
	fmt.Printf("link %.1f GB/s up, %.1f down\n", rate[0]/1e9, rate[1]/1e9)
	pins, err := t.pinRates()
	if err != nil {
		return err
	}
	fmt.Printf("pinned host memory, GB/s: %.1f in pieces of 128 MiB one after the other, %.1f four at a time, %.1f in one piece of 1 GiB; %.1f of it again\n", pins[0]/1e9, pins[1]/1e9, pins[2]/1e9, pins[3]/1e9)
	last := 2*t.c.Find.Edges - 1
	key := &pattern.Expr{Op: pattern.Plus, Args: []*pattern.Expr{{Op: pattern.Label, A: 0}, {Op: pattern.Label, A: last}}}
	of := &rowtable.Spec{Rows: r, Size: t.c.Find.Edges}
	want := map[int64]uint64{}
	if t.c.CPU {
		if err := t.keysOnCPU(of, key, want); err != nil {
			return err
		}
	}
	for range 2 {
		if err := t.counted(of, key, want); err != nil {
			return err
		}
	}
	bytes, rows, first := int64(0), int64(0), 0.0
	for i, limit := range []func() int64{ // the first compiles kernels
		func() int64 { return t.c.GiB << 30 }, func() int64 { return t.c.GiB << 30 },
		func() int64 { return 4 * rows / 4 }, func() int64 { return 2 * rows / 4 }, // a quarter of what a number of four or two bytes for each row takes
		func() int64 { return bytes / 2 }, func() int64 { return bytes / 4 }, func() int64 { return bytes / 4 }, func() int64 { return bytes / 8 },
		func() int64 { return bytes / 4 },
	} {
		h := &cuda.Homes{Dir: t.c.Find.Scratch, Wait: i == 5}
		if i == 8 {
			h.Host = bytes / 2
		}
		if bytes, rows, err = t.store(of, key, want, h, limit(), rate, &first); err != nil {
			return err
		}
	}
	return nil
}

// store stores and counts once, in so many bytes of each GPU.
func (t *table) store(of *rowtable.Spec, key *pattern.Expr, want map[int64]uint64, h *cuda.Homes, limit int64, rate [2]float64, first *float64) (bytes, rows int64, err error) {
	spent := t.trace()
	layout, room, err := divided(of, limit, cuda.ForStore)
	if err != nil {
		return 0, 0, err
	}
	g, err := cuda.Upload(t.gpus, of.Rows, layout)
	if err != nil {
		return 0, 0, err
	}
	before, start := t.gpus[0].Counters(), time.Now()
	s, err := cuda.StoreRows(context.Background(), g, &cuda.Making{Spec: of, Room: room, Stage: cuda.StageBytes(h.Host, len(t.gpus))}, h)
	if err != nil {
		return 0, 0, errors.Join(err, g.Free())
	}
	wall, after := time.Since(start).Seconds(), t.gpus[0].Counters()
	kernels := spent()
	cards, most, host := h.Bytes()
	again := &rowtable.Spec{Rows: of.Rows, Size: of.Size, From: s}
	got := map[int64]uint64{}
	start = time.Now()
	m := &cuda.Making{Spec: again, Stage: cuda.StageBytes(h.Host, len(t.gpus))}
	least, _ := cuda.GrowNeed(m, cuda.ForKeys)
	m.Room = max(least, room-most)
	_, err = cuda.CountKeys(context.Background(), g, m, key, add(got))
	read, end := time.Since(start).Seconds(), t.gpus[0].Counters()
	bytes, rows = s.Bytes(), s.Rows()
	spilled := s.Spilled()
	if err = errors.Join(err, s.Close(), g.Free()); err != nil {
		return 0, 0, err
	}
	if !maps.Equal(got, want) {
		return 0, 0, fmt.Errorf("stored rows have other keys: %d, not %d", len(got), len(want))
	}
	down, up := float64(after.D2H-before.D2H), float64(end.H2D-after.H2D)
	bound := max(*first, down/rate[1]+up/rate[0])
	if *first == 0 || *first > wall+read {
		*first = wall + read
	}
	note := ""
	if h.Wait {
		note = ", without a second buffer"
	}
	fmt.Printf("%6.2f GB on each GPU%s  %d rows, %.2f GB: %.2f on GPUs, %.2f in host memory, %.2f in a file; stored in %.3f s (kernels %.3f, %.2f GB down, waited %.3f for host memory), counted by key in %.3f s (kernels %.3f, %.2f GB up); %.2f of the larger of all in memory and the link's time\n",
		float64(limit)/1e9, note, rows, float64(bytes)/1e9, float64(cards)/1e9, float64(host)/1e9, float64(spilled)/1e9, wall, kernels, down/1e9, h.Waited().Seconds(), read, spent()-kernels, up/1e9, (wall+read)/max(bound, 1e-9))
	return bytes, rows, nil
}

// counted counts rows that are not stored by a key, and compares or fills what is wanted.
func (t *table) counted(of *rowtable.Spec, key *pattern.Expr, want map[int64]uint64) error {
	spent := t.trace()
	layout, room, err := divided(of, t.c.GiB<<30, cuda.ForKeys)
	if err != nil {
		return err
	}
	g, err := cuda.Upload(t.gpus, of.Rows, layout)
	if err != nil {
		return err
	}
	got := map[int64]uint64{}
	start := time.Now()
	_, err = cuda.CountKeys(context.Background(), g, &cuda.Making{Spec: of, Room: room, Stage: cuda.StageBytes(0, 1)}, key, add(got))
	wall := time.Since(start).Seconds()
	if err = errors.Join(err, g.Free()); err != nil {
		return err
	}
	if len(want) == 0 {
		maps.Copy(want, got)
	} else if !maps.Equal(got, want) {
		return fmt.Errorf("%d keys: not those of the CPU or of the run before", len(got))
	}
	fmt.Printf("not stored: counted by %d keys in %.3f s (kernels %.3f)\n", len(got), wall, spent())
	return nil
}

// divided is how the graph and the work share so many bytes of a GPU.
func divided(of *rowtable.Spec, limit int64, use cuda.Use) (cuda.Layout, int64, error) {
	least, most := cuda.GrowNeed(&cuda.Making{Spec: of}, use)
	f, ok := cuda.Divide(of.Rows, cuda.Whole, limit, least, most)
	if !ok {
		return f.Layout, 0, fmt.Errorf("%d bytes are too few: %d at least", limit, f.Smallest)
	}
	return f.Layout, f.Room, nil
}

// add adds to counts.
func add(to map[int64]uint64) func(key int64, rows uint64) error {
	return func(key int64, rows uint64) error { to[key] += rows; return nil }
}

// trace begins to add up the seconds of kernels of the first GPU, which spent returns.
func (t *table) trace() (spent func() float64) {
	var mu sync.Mutex
	sum := time.Duration(0)
	for i, gpu := range t.gpus {
		gpu.SetTrace(func(s device.Span) {
			if s.Op == device.OpLaunch && i == 0 {
				mu.Lock()
				sum += s.End - s.Start
				mu.Unlock()
			}
		})
	}
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return sum.Seconds()
	}
}

// keysOnCPU counts by key on the CPU.
func (t *table) keysOnCPU(of *rowtable.Spec, key *pattern.Expr, want map[int64]uint64) error {
	var mu sync.Mutex
	var parts []map[int64]uint64
	start, cpu := time.Now(), measure.CPUSeconds()
	err := of.Share(context.Background(), t.c.Threads, func() func(*rowtable.Row) {
		part := map[int64]uint64{}
		mu.Lock()
		parts = append(parts, part)
		mu.Unlock()
		var value func() int64
		return func(r *rowtable.Row) {
			if value == nil {
				value = r.Func(key)
			}
			part[value()]++
		}
	})
	rows := uint64(0)
	for _, part := range parts {
		for k, n := range part {
			want[k] += n
			rows += n
		}
	}
	fmt.Printf("CPU: %d rows, %d keys; %.3f s, %.3f processor s\n", rows, len(want), time.Since(start).Seconds(), measure.CPUSeconds()-cpu)
	return err
}

// linkRates is the bytes a second of copies up and down.
func (t *table) linkRates() (rate [2]float64, err error) {
	const bytes = 1 << 29
	gpu := t.gpus[0]
	m, err := gpu.Alloc(bytes)
	if err != nil {
		return rate, err
	}
	host, err := gpu.HostAlloc(bytes)
	if err != nil {
		return rate, err
	}
	q, err := gpu.NewQueue("link")
	if err != nil {
		return rate, err
	}
	for range 2 { // the first is slower
		for i, do := range []func() error{func() error { return gpu.CopyH2D(q, m, 0, host.Bytes()) }, func() error { return gpu.CopyD2H(q, host.Bytes(), m, 0) }} {
			start := time.Now()
			if err := errors.Join(do(), gpu.Sync()); err != nil {
				return rate, err
			}
			rate[i] = bytes / time.Since(start).Seconds()
		}
	}
	return rate, errors.Join(gpu.Free(m), gpu.HostFree(host))
}

// pinRates is the bytes a second that pinned host memory is taken by: in eight pieces one after the other, four at a time, in one piece, and again.
func (t *table) pinRates() (rate [4]float64, err error) {
	const pieces, bytes = 8, 1 << 27
	gpu := t.gpus[0]
	for i, ahead := range []int{1, 4, 0, 1} {
		list := make([]device.HostMem, pieces)
		errs := make([]error, pieces)
		start := time.Now()
		if ahead == 0 {
			list[0], errs[0] = gpu.HostAlloc(pieces * bytes)
		}
		var wg sync.WaitGroup
		for w := range ahead {
			wg.Go(func() {
				for k := w; k < pieces; k += ahead {
					list[k], errs[k] = gpu.HostAlloc(bytes)
				}
			})
		}
		wg.Wait()
		rate[i] = pieces * bytes / time.Since(start).Seconds()
		for k := range list {
			if len(list[k].Bytes()) > 0 {
				errs = append(errs, gpu.HostFree(list[k]))
			}
		}
		if err := errors.Join(errs...); err != nil {
			return rate, err
		}
	}
	return rate, nil
}
