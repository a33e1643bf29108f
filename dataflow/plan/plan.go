package plan

// Queue is a queue of a device: its tasks run in order, and different queues run concurrently.
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
	Results                 // device to host: the Globals that the caller wants
	Copy                    // device to device: a chunk of a value, or a Global
	Add                     // add Bytes of float32 at FromAddr to those at Addr: a Global summed on several devices
	Take                    // sampled blocks: copy the rows of set Own from the table at FromAddr to Addr
	Send                    // in a rank's part (order.Part): send bytes of Device or of its host to another rank's device From
	Receive                 // in a rank's part: receive at Addr what another rank's device From sends
)

// String is the kind's name.
func (k TaskKind) String() string {
	return [...]string{"run", "load", "save", "zero", "update", "results", "copy", "add", "take", "send", "receive"}[k]
}

// Task is one entry of the global order. It holds numbers only: operands and
// dependences are ranges of slices of the plan.
type Task struct {
	Kind        TaskKind
	Queue       Queue
	Is          Marks
	Device      uint16 // the device that runs it
	From        uint16 // Copy: the device that is read; Send, Receive: the device at the other end
	Dir         Dir
	Phase, Step int32 // Step: -1 for a task that belongs to no step, such as a copy
	Kernel      int32 // Run
	Value       int32 // Load, Save: the value, or -1 for a cell
	// Own and Other are intervals; Other is -1 for a task without a cell. Over sampled blocks Own is
	// the set of the own rows and Other the set of the edges (for a Zero: the set whose rows precede it).
	Own, Other int32
	Rows       int32 // Run: own rows; a Load that gathers: rows that it copies
	Addr       int64 // Load, Save, Zero, Copy, Add, Take, Receive: byte offset in device memory
	FromAddr   int64 // Copy: byte offset in From's memory; Add, Take, Send: in Device's
	Bytes      int64
	Cell       int64    // Run over a cell: byte offset of the cell
	Args       [2]int32 // range in Plan.Args: byte offset of each operand
	Deps       [2]int32 // range in Plan.Deps: earlier tasks of other queues to wait for
}

// Lane numbers the queues of all devices.
func (t *Task) Lane() int { return int(t.Device)*int(Queues) + int(t.Queue) }

// Channel numbers the channels between k devices of different ranks. A Send and its Receive have the same
// channel, and the queues at both ends have the messages of a channel in the same order.
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
	First, Last bool // Run over a cell: initialise the accumulators first, finish them at the end
	Event       bool // a task of another queue waits for this one
	Max         bool // Add: take the larger of two bit patterns, which are ordered as the numbers, instead of the sum
	Host        bool // Send, Receive: the message is a chunk in the sender's host memory
	Joined      bool // Send, Receive: crosses at the same time as the device's message before it
	Gather      bool // Load: only the rows, Task.Rows of them, that cell (Other,Own) of Dir reads, each to its place
}

// Plan is the result of planning: one global order of tasks. Every dependence points
// backwards in it and every queue is a subsequence of it, so waiting cannot deadlock.
type Plan struct {
	Spec       *Spec
	Cells      *Cells
	Tasks      []Task
	Setup      []Task  // loads of what stays resident from step to step; they run once, before the first step
	Args       []int64 // byte offsets of operands, by Task.Args
	Deps       []int32 // task numbers, by Task.Deps
	Globals    []int64 // device offset of each Global
	Places     Places
	Host       HostPlaces
	Peak       int64 // bytes of device memory that the plan needs
	Budget     int64 // bytes of device memory that it may use; 0: no bound
	Slots      int   // least number of buffers of a streamed operand: prefetch depth + 1
	PhaseSlots []int // by phase: buffers of a chunk at the far end, at least Slots; more keep chunks for later visits
	// Groups is, by phase, how many intervals a device visits at the same time. Its last entry is
	// the number for phases in which chunks stream and no memory was left for more.
	Groups   []int
	Schedule string
	H2D, D2H int64 // bytes copied per step, over all devices
	D2D      int64
	Devices  int   // each with its own memory, all with the same addresses
	Once     int64 // bytes that Setup copies
}

// Places are the addresses of a plan in device memory, the same on each device.
type Places struct {
	Memory   []Buffer  // what lies where, for printing
	Resident []bool    // by value: it stays on the device for the whole run
	ValueAt  []int64   // device offset of each resident value
	CellsIn  []bool    // by Dir: all cells are resident
	CellAt   [][]int64 // device offset of each resident cell
	Windows  []Window
	Whole    int64  // end of the memory of what lives for the whole run
	Sets     *Sets  // sampled blocks: their sets and the memory for them; nil: a full graph
	Lasting  int64  // end of the windows that stay from one step to the next; 0: none
	Work     []Work // by phase: scratch memory of its kernels; nil: they have memory of their own
}

// Work is a place for scratch memory.
type Work struct{ At, Bytes int64 }

// HostPlaces say which values share host memory, and which of it lies in files.
type HostPlaces struct {
	Of    []int  // by value: the value whose host memory it uses, mostly itself
	Lent  []int  // by value: the value of Options.Base whose host memory it uses between that plan's steps; -1: none
	Disk  []bool // by value: its host memory is a file; nil: none is
	Short bool   // what cannot lie in files is more than Options.Host allows
}

// Buffer is a range of device memory with a name. It is in use from phase From to
// phase To; buffers that are never in use in the same phase may overlap.
type Buffer struct {
	Name      string
	At, Bytes int64
	From, To  int    // Whole, Whole: the whole run
	Parts     []Part // of a buffer that is taken or left chunk by chunk; At and Bytes are then its lowest address and the sum of its parts
}

// Part is a part of a buffer. It is in use from moment From to moment To; the visit of interval j in phase q
// is moment q·P+j.
type Part struct {
	At, Bytes int64
	From, To  int
}

// Owner is the device that visits interval j. Intervals are dealt to devices round-robin.
func (p *Plan) Owner(j int) int { return j % p.Devices }

// Local is the number of interval j among those of its owner.
func (p *Plan) Local(j int) int64 { return int64(j / p.Devices) }

// LocalOf is the number of interval j among those of value id that its owner has.
func (p *Plan) LocalOf(id, j int) int64 {
	s := p.Span(id)
	return int64((j - s.First) / p.Devices)
}

// Span is the intervals that value id has rows for.
func (p *Plan) Span(id int) Span { return p.Cells.Span(p.Spec.Values[id].Type) }

// FirstRow is the number of the first row of interval i among the rows of value id.
func (p *Plan) FirstRow(id, i int) int {
	s := p.Span(id)
	return (i - s.First) * s.Width
}

// Visits is how many visits a device makes in a phase for n intervals that it owns.
func (p *Plan) Visits(phase, n int) int { return (n + p.Groups[phase] - 1) / p.Groups[phase] }

// Share is the largest number of intervals that a device owns.
func (p *Plan) Share() int64 { return int64((p.Cells.P + p.Devices - 1) / p.Devices) }

// ShareOf is the largest number of intervals of value id that a device owns.
func (p *Plan) ShareOf(id int) int64 { return int64((p.Span(id).N + p.Devices - 1) / p.Devices) }

// Kept is the end of the device memory, from 0, that other programs must not overwrite between steps. Windows that stay from one step to the
// next are loaded again after a program that seldom runs.
func (p *Plan) Kept() int64 {
	if p.Spec.Between {
		return max(p.Places.Whole, p.Places.Lasting)
	}
	return p.Places.Whole
}

// Constant is how many bytes Setup loads into memory that nothing else uses during the run.
func (p *Plan) Constant() (n int64) {
	for i := range p.Setup {
		if t := &p.Setup[i]; t.Addr < p.Places.Whole {
			n += t.Bytes
		}
	}
	return n
}

// GatherOverhead is the time of a byte of a row gather relative to a byte of a whole copy. On an H200 rows sorted
// by address came over the link at 50 GB/s and whole chunks at 55, and rows of 128 bytes were no slower.
const GatherOverhead = 1.1
