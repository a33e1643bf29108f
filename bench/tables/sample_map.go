package tables

import (
	"errors"
	"unsafe"

	"sagann/device"
)

// fusedMap renumbers the vertices of a batch as FastGL's Fused-Map does (Zhu et al., 2024). One kernel inserts ids
// into a hash table by atomicCAS and numbers the new ones by atomicAdd; a second one translates ids to numbers.
// So numbers depend on the order of threads. The engine's own renumbering, whose numbers do not, is compared with
// it. Keys have the batch's tag in their upper half, so that the table need not be cleared between batches.
type fusedMap struct {
	gpu      device.GPU
	queue    device.Queue
	mems     []device.Mem
	captured device.Graph
}

const fusedMapText = `
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256) map_insert(u32 *b, const u32 *list, u64 m, u64 *key, u32 *local, u32 *unique, u64 mask) {
	u32 e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= m)
		return;
	u32 v = list[e];
	u64 tag = (u64)b[0] << 32, mine = tag | v;
	u32 h = v * 0x9e3779b1u;
	for (h ^= h >> 15;; h++) {
		u64 *at = key + (h & mask), old = *(volatile u64 *)at;
		while (old < tag) { // of an earlier batch
			u64 was = atomicCAS(at, old, mine);
			if (was == old) {
				u32 id = atomicAdd(b + 1, 1u);
				local[h & mask] = id;
				unique[id] = v;
				return;
			}
			old = was;
		}
		if (old == mine)
			return;
	}
}

extern "C" __global__ void __launch_bounds__(256) map_find(const u32 *b, const u32 *list, u64 m, const u64 *key, const u32 *local, u64 mask, u32 *out) {
	u32 e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= m)
		return;
	u32 v = list[e];
	u64 mine = (u64)b[0] << 32 | v;
	u32 h = v * 0x9e3779b1u;
	for (h ^= h >> 15; key[h & mask] != mine; h++)
		;
	out[e] = local[h & mask];
}

extern "C" __global__ void __launch_bounds__(32) map_next(u32 *b) {
	if (threadIdx.x == 0) {
		b[2] = b[1];
		b[0]++;
		b[1] = 0;
	}
}
`

func bytesOfIDs(x []uint32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

// newFusedMap prepares the lists of a batch: the seeds, and then the vertices that each hop drew.
func newFusedMap(gpu device.GPU, lists [][]uint32) (f *fusedMap, err error) {
	f = &fusedMap{gpu: gpu}
	defer func() {
		if err != nil {
			err = errors.Join(err, gpu.Sync(), f.free())
		}
	}()
	if f.queue, err = gpu.NewQueue("map"); err != nil {
		return f, err
	}
	total := 0
	for _, l := range lists {
		total += len(l)
	}
	slots := 1
	for slots < 2*total {
		slots *= 2
	}
	var addresses []uint64
	take := func(bytes int) {
		if err != nil {
			return
		}
		var m device.Mem
		if m, err = gpu.Alloc(int64(bytes)); err == nil {
			f.mems = append(f.mems, m)
			var at uint64
			at, err = gpu.Address(m)
			addresses = append(addresses, at)
		}
	}
	for _, bytes := range []int{64, 8 * slots, 4 * slots, 4 * total, 4 * total} { // words, keys, local numbers, unique ids, results
		take(bytes)
	}
	for _, l := range lists {
		take(4 * max(1, len(l)))
	}
	if err != nil {
		return f, err
	}
	for i, l := range lists {
		if err = gpu.CopyH2D(f.queue, f.mems[5+i], 0, bytesOfIDs(l)); err != nil {
			return f, err
		}
	}
	if err = gpu.CopyH2D(f.queue, f.mems[0], 0, bytesOfIDs([]uint32{1, 0, 0})); err != nil {
		return f, err
	}
	functions, err := gpu.Compile(fusedMapText, []string{"map_insert", "map_find", "map_next"})
	if err != nil {
		return f, err
	}
	clear := []device.Command{{Clear: &device.Clear{Addr: addresses[1], Bytes: int64(8 * slots)}}}
	if err = f.launch(clear); err != nil {
		return f, err
	}
	return f, f.capture(functions, addresses, lists, uint64(slots-1))
}

// capture captures the kernels of a batch as a CUDA graph.
func (f *fusedMap) capture(functions []device.Function, at []uint64, lists [][]uint32, mask uint64) (err error) {
	var commands, finds []device.Command
	done := 0
	add := func(list []device.Command, fn device.Function, n int, args ...uint64) []device.Command {
		return append(list, device.Command{Call: &device.Call{Func: fn, Grid: [3]uint32{uint32(max(1, (n+255)/256)), 1, 1}, Block: 256, Args: args}})
	}
	for i, l := range lists {
		n := uint64(len(l))
		commands = add(commands, functions[0], len(l), at[0], at[5+i], n, at[1], at[2], at[3], mask)
		if i > 0 { // seeds are where they are
			finds = add(finds, functions[1], len(l), at[0], at[5+i], n, at[1], at[2], mask, at[4]+uint64(4*done))
		}
		done += len(l)
	}
	commands = append(commands, finds...)
	commands = append(commands, device.Command{Call: &device.Call{Func: functions[2], Grid: [3]uint32{1, 1, 1}, Block: 32, Args: at[:1]}})
	if err := f.gpu.Sync(); err != nil {
		return err
	}
	c, ok := f.gpu.(device.Capturer)
	if !ok {
		return errors.New("the device cannot capture")
	}
	f.captured, err = c.Capture([]device.Queue{f.queue}, func() error { return f.launch(commands) })
	return err
}

func (f *fusedMap) launch(c []device.Command) error {
	return f.gpu.Launch(f.queue, device.GPUCommands("map", c))
}

func (f *fusedMap) run() error { return f.gpu.(device.Capturer).Replay(f.captured) }

// distinct is the number of different vertices of the last batch.
func (f *fusedMap) distinct() (uint32, error) {
	words := make([]uint32, 3)
	err := f.gpu.CopyD2H(f.queue, bytesOfIDs(words), f.mems[0], 0)
	return words[2], errors.Join(err, f.gpu.Sync())
}

func (f *fusedMap) free() (err error) {
	for _, m := range f.mems {
		err = errors.Join(err, f.gpu.Free(m))
	}
	f.mems = nil
	return err
}
