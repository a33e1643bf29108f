package device

// A GPU is a device that runs compiled source, as the cuda device does. Programs that
// only know Device reach it by a type assertion.
type GPU interface {
	Device
	// Compile compiles source in the device's language, CUDA C++ on the cuda device, and
	// returns the kernels that names lists. Each must be declared extern "C", and every parameter
	// must have eight bytes. Compiled code is cached on disk. The functions are valid until Close.
	Compile(source string, names []string) ([]Function, error)
	// Address is where m starts in the device's address space. It is valid until
	// the block is freed.
	Address(m Mem) (uint64, error)
	// HostAddress is where kernels read b, which lies in memory of HostAlloc and is not empty. What they read
	// must be there before their launch, and stay.
	HostAddress(b []byte) uint64
	// Prepare makes a batch of commands that is submitted by one call, as often
	// as wanted. It is freed by Release or Close.
	Prepare(c []Command) (Batch, error)
	// Release frees a batch before Close. What was submitted of it still runs; it must not be
	// submitted again.
	Release(b Batch)
	// Detail has f called with the span of every command of later batches, as
	// SetTrace has for launches; commands then run one at a time. nil turns it off.
	Detail(f func(Span))
}

// WritesHost reports whether kernels of a GPU may also write memory of HostAlloc of a megabyte or more, at its HostAddress; what they wrote is there when the host has waited for them.
func WritesHost(d GPU) bool {
	w, ok := unwrap(d).(interface{ writesHost() bool })
	return ok && w.writesHost()
}

// A Messenger is a device that can exchange parts of its memory with devices of other processes: a GPU
// for which JoinNCCL was called.
type Messenger interface {
	Device
	// Exchange sends and receives the messages of list, all at the same time, when q and the
	// queues of the other devices have reached them. Two devices must submit the messages between them in the
	// same order. All messages of one call run together: none waits for another one of the list.
	Exchange(q Queue, list []Message) error
}

// A Message is a range of this device's memory that is sent to device number Peer or, if Send is
// false, received from it. Devices are numbered over all processes, as JoinNCCL says.
type Message struct {
	Send       bool
	Peer       int
	Mem        Mem
	Off, Bytes int64
}

// NCCLIDBytes is the length of an NCCLID.
const NCCLIDBytes = 128

// A Function is a compiled kernel of a GPU.
type Function interface {
	// Name is the name in the source.
	Name() string
}

// A Batch is a prepared list of commands.
type Batch interface {
	// Commands is the number of commands.
	Commands() int
}

// A Command is one step of a batch: exactly one of its fields is set.
type Command struct {
	Call  *Call
	Gemm  *Gemm
	Clear *Clear
}

// A Call starts a kernel on Grid blocks of Block threads with Shared bytes of
// shared memory. Args are the arguments in order: addresses and 64-bit integers.
type Call struct {
	Func   Function
	Grid   [3]uint32
	Block  uint32
	Shared uint32
	Args   []uint64
	Beside bool // may run at the same time as the next command of the batch: the two write different memory
}

// Gemm is the dense product C = A·B, or C += A·B with Add: row-major float32
// matrices at device addresses, C of M×N, the inner dimension K, LDx floats from
// one row to the next. With TransA the matrix at A is the transpose, K×M; with
// TransB that at B is N×K.
type Gemm struct {
	A, B, C        uint64
	M, N, K        int
	LDA, LDB, LDC  int
	TransA, TransB bool
	Add            bool
	TF32           bool // operands may be rounded to 10 bits of fraction
}

// Clear sets Bytes bytes at Addr to zero; both are multiples of four.
type Clear struct {
	Addr  uint64
	Bytes int64
}

// A Capturer is a GPU that can keep submitted work and submit all of it again by one
// call.
type Capturer interface {
	GPU
	// Capture calls f, and keeps what f submits to the queues instead of running it.
	// Nothing else may be submitted to the device meanwhile, and f must not wait for
	// queues. It fails if f fails, or if f submits a task that cannot be captured. An error leaves
	// the device as it was.
	Capture(queues []Queue, f func() error) (Graph, error)
	// Update replaces the captured work of g by what f submits to g's queues. Rules are as for
	// Capture. It is fast if there are as many kernels and copies as before. Earlier replays of g
	// may still run, and are not changed. After an error g must not be replayed.
	Update(g Graph, f func() error) error
	// Replay submits g to the first of its queues. It runs after all tasks submitted before to any of
	// its queues. Counters count the tasks of g as if they were submitted one by one. A
	// trace sees one launch with the name "captured".
	Replay(g Graph) error
}

// A Graph is captured work. It is freed by Close of its device.
type Graph interface {
	// Tasks is the number of copies and launches.
	Tasks() int64
}

// A GPUKernel is a kernel that a GPU runs. Its batch is submitted with the
// launch; an error is treated as one of the running kernel, so Sync reports it.
type GPUKernel interface {
	Kernel
	// Batch returns the batch that d will run. It was prepared by d.
	Batch(d GPU) (Batch, error)
}

// GPUFunc returns a GPUKernel that submits what batch returns.
func GPUFunc(name string, batch func(d GPU) (Batch, error)) GPUKernel { return &gpuFunc{name, batch} }

// GPUCommands returns a GPUKernel that prepares commands and submits them.
func GPUCommands(name string, list []Command) GPUKernel {
	return GPUFunc(name, func(d GPU) (Batch, error) { return d.Prepare(list) })
}

type gpuFunc struct {
	name  string
	batch func(d GPU) (Batch, error)
}

func (f *gpuFunc) Name() string               { return f.name }
func (f *gpuFunc) Batch(d GPU) (Batch, error) { return f.batch(d) }
