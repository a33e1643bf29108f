package plan

// Queue is a stream of tasks in order; different queues run side by side.
type Queue uint8

// The queues of a device; Queues counts them.
const (
	Compute Queue = iota
	H2D
	D2H
	D2D // copies from another device to this one
	Queues
)

// String is the queue's name.
func (q Queue) String() string { return [...]string{"compute", "h2d", "d2h", "d2d"}[q] }

// TaskKind is what a task does.
type TaskKind uint8

const (
	Run     TaskKind = iota // a kernel call
	Load                    // host to device: a chunk of a value, or a cell
	Save                    // device to host: a chunk of a value
	Zero                    // clear a range of device memory
	Update                  // the optimiser, over all parameters
	Results                 // device to host: the Globals the caller wants
	Copy                    // device to device: a chunk of a value, or a Global
	Add                     // Addr += FromAddr, Bytes of float32: sums of several devices become one
	Take                    // over sampled blocks: Addr gets the rows of the table at FromAddr that belong to set Own
	Send                    // of a part (order.Part): bytes of Device, or of a chunk on its host, to device From of another rank
	Receive                 // of a part: what device From of another rank sends, to Addr
)

// String is the kind's name.
func (k TaskKind) String() string {
	return [...]string{"run", "load", "save", "zero", "update", "results", "copy", "add", "take", "send", "receive"}[k]
}

// Task is one entry of the global order. It holds numbers only: operands and
// dependences stand in shared slices of the plan.
type Task struct {
	Kind        TaskKind
	Queue       Queue
	Is          Marks
	Device      uint16 // that runs it
	From        uint16 // Copy: the device that is read; Send, Receive: the device at the other end
	Dir         Dir
	Phase, Step int32
	Kernel      int32 // Run
	Value       int32 // Load, Save: the value, or -1 for a cell
	Own, Other  int32 // intervals; Other is -1 without a cell. Over sampled blocks the sets of own rows and of edges (of a Zero: of the rows before it)
	Rows        int32
	Addr        int64 // Load, Save, Zero, Copy, Add: byte offset in device memory
	FromAddr    int64 // Copy, Add: byte offset in From's memory; Send: in Device's
	Bytes       int64
	Cell        int64    // Run over a cell: byte offset of the cell's block
	Args        [2]int32 // range in Plan.Args: byte offset of each operand
	Deps        [2]int32 // range in Plan.Deps: earlier tasks of other queues
}

// Lane numbers the queues of all devices.
func (t *Task) Lane() int { return int(t.Device)*int(Queues) + int(t.Queue) }

// Channel numbers the pairs of queues that a Send and its Receive stand in, of k devices: both queues have
// the messages of one channel in the same order.
func (t *Task) Channel(k int) int {
	from, to := int(t.From), int(t.Device)
	if t.Kind == Send {
		from, to = to, from
	}
	n := 2 * (from*k + to)
	if t.Is.Host {
		n++
	}
	return n
}

// Marks say what is special about a task.
type Marks struct {
	First, Last bool // Run over a cell: start and finish the accumulators
	Event       bool // a task of another queue waits for this one
	Max         bool // Add: the larger of two ordered bit patterns instead of the sum
	Host        bool // Send, Receive: of a chunk in the sender's host memory
	Joined      bool // Send, Receive: it crosses at the same time as the device's message before it
	Gather      bool // Load of only the rows that cell (Other,Own) of Dir reads, Rows of them, to their places
}

// Plan is the result of planning: one global order. Every dependence points
// backwards in it and every queue is a subsequence of it, so no order of waiting can
// deadlock.
type Plan struct {
	Spec       *Spec
	Cells      *Cells
	Tasks      []Task
	Setup      []Task // loads of what stays resident from step to step; once, before the first step
	Args       []int64
	Deps       []int32
	Globals    []int64 // device offset of each Global
	Places     Places
	Host       HostPlaces
	Peak       int64 // bytes of device memory
	Budget     int64
	Slots      int   // buffers a streamed operand has at least: prefetch depth + 1
	PhaseSlots []int // by phase: slots of a chunk at the far end, at least Slots: more keep chunks for later visits
	Groups     []int // by phase: intervals that a device visits at the same time; last, the number where chunks stream and no memory was left for more
	Schedule   string
	H2D, D2H   int64 // bytes a step, over all devices
	D2D        int64
	Devices    int   // each with its own memory, laid out alike
	Once       int64 // bytes of Setup
}

// Places are those of a plan in device memory, the same on each device.
type Places struct {
	Memory   []Buffer   // what lies where, for printing
	Resident []bool     // by value
	ValueAt  []int64    // device offset of each resident value
	CellsIn  [2]bool    // cells of a direction resident
	CellAt   [2][]int64 // device offset of each resident cell
	Windows  []Window
	Whole    int64 // end of what lives for the whole run
	Sets     *Sets // over sampled blocks: what there is room for; nil: over a full graph
	Lasting  int64 // end of the windows that stay from one step to the next; 0: none
}

// HostPlaces say what shares memory on the host, and what of it is files.
type HostPlaces struct {
	Of    []int  // by value: the value whose place in host memory it has, mostly itself
	Lent  []int  // by value: the value of Options.Base whose host memory it uses between that plan's steps, -1: none
	Disk  []bool // by value: its host memory is a file; nil: none is
	Short bool   // what cannot lie in files is more than Options.Host
}

// Buffer is a range of device memory with a name. It is in use from phase From to
// phase To; buffers whose phases do not meet may lie over each other.
type Buffer struct {
	Name      string
	At, Bytes int64
	From, To  int // Whole, Whole: the whole run
}

// meets tells whether two buffers are in use at the same time.
func (b *Buffer) meets(o *Buffer) bool {
	return b.From == Whole || o.From == Whole || b.From <= o.To && o.From <= b.To
}

// Owner is the device that visits interval j; every device visits each Devices-th one.
func (p *Plan) Owner(j int) int { return j % p.Devices }

// Local is the number of interval j among those of its owner.
func (p *Plan) Local(j int) int64 { return int64(j / p.Devices) }

// Visits is how many visits n intervals take.
func (p *Plan) Visits(phase, n int) int { return (n + p.Groups[phase] - 1) / p.Groups[phase] }

// Share is how many intervals a device owns at most.
func (p *Plan) Share() int64 { return int64((p.Cells.P + p.Devices - 1) / p.Devices) }

// Kept is where the memory ends that other programs leave alone.
func (p *Plan) Kept() int64 { return max(p.Places.Whole, p.Places.Lasting) }

// Constant is how many bytes of what the setup loads have their memory for the whole run.
func (p *Plan) Constant() (n int64) {
	for i := range p.Setup {
		if t := &p.Setup[i]; t.Addr < p.Places.Whole {
			n += t.Bytes
		}
	}
	return n
}

// GatherOverhead is the cost of a row gather beside a whole copy, for each byte. On an H200 rows sorted by
// address came over the link at 50 GB/s beside 55 for whole chunks, and no slower with rows of 128 bytes.
const GatherOverhead = 1.1
