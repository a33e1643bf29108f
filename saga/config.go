package saga

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/net"
	"sagann/saga/rows"
)

// Storages of Config.Storage.
const (
	StorageF32  = dataflow.StorageF32
	StorageBF16 = dataflow.StorageBF16
)

var storages = []string{"", StorageF32, StorageBF16}

// outputFeatureGrad is the one of Config.Outputs that is a gradient.
const outputFeatureGrad = "grad:" + rows.Features

func (c *Config) featureGrad() bool { return slices.Contains(c.Outputs, outputFeatureGrad) }

// Config says how a model is trained and where.
type Config struct {
	// Device is "cpu" (default), or "cpu:4" for four devices; with build tag cuda also "cuda" and "cuda:0,1".
	Device string
	// Net is the ranks (processes) that share the devices: the same number each, in the order of the ranks. All
	// ranks compile the same model for the same data at the same time, and each runs the tasks of its devices. No bit of the result
	// depends on the number of ranks. nil: one process.
	Net    *net.Group
	NoRing bool // with several devices: each loads all chunks itself, instead of passing them on
	// Mem is how many bytes of memory each device may use, a GPU's context and libraries included. 0: on GPUs what is
	// free on them when the model is compiled, at most the memory of Machine; without Machine, and on a CPU, no bound,
	// but sampled training on GPUs always keeps within what is free. No more is taken than the plan needs.
	Mem int64
	// HostMem is how many bytes may lie in host memory in addition to the data set: cells of the graph,
	// features and labels in the order of the plan, values that are swapped. What does not
	// fit lies in files in Scratch. 0: no bound. host.go says what is counted.
	HostMem  int64
	Scratch  string // folder for these files, which have no names; "": the system's folder for temporary files
	TF32     bool   // GPUs: dense products may round their operands to TF32 (10 bits of fraction)
	Chunks   int    // number of intervals P; 0: the smallest that fits, with Machine the fastest
	Prefetch int    // chunks that are loaded ahead; 0: 2 if they fit, and more where memory is left
	Schedule string // "sag" (default), "stage", "dest-order"; with Machine also "auto"
	// Machine is a machine model: a built-in name or a file. Number of chunks, prefetch and schedule, where
	// they are left free, are then chosen by simulation, within the machine's memory.
	Machine string
	Seed    uint64
	Without []string // names of compiler passes to leave out
	// Save says which values of the forward pass are stored for the backward pass: "all", "none"
	// (all are computed again where possible), "some" (element-wise values are computed
	// again) or "auto" (default), the fastest of these by simulation.
	Save string
	// Storage is the format of rows that edges gather from their far end: "f32" (also "")
	// or "bf16", which halves the bytes of them that gathers read and links carry. Sums, weights and
	// a vertex's own rows are float32 with either.
	Storage string
	// Outcome sets choices that are otherwise left to the search. A run that goes on from a
	// checkpoint takes over what Program.Outcome gave.
	Outcome Outcome

	Epochs    int
	Optimizer Optimizer
	EvalEvery int // epochs between evaluations; 0: every epoch is evaluated. The plan depends on it: from Seldom on what stays between epochs has the memory of evaluation, too
	Patience  int // stop if the validation loss has not improved for so many evaluations; 0: never

	// Outputs asks training steps for vertex tensors: "hidden", "logits", and "grad:features", the gradient of
	// the loss with respect to the features. Program.Output reads them.
	Outputs []string
	// Stream keeps nothing on devices that can stream; for tests and measurements.
	Stream bool
	// MinChunks is the least number of intervals if Chunks is 0.
	MinChunks int
}

// Outcome is what a run has chosen in addition to number of chunks, schedule and save policy, as far as
// it must stay the same for the run to go on bit for bit. The zero Outcome leaves all of it free.
type Outcome struct {
	// Store names values that are stored although Config.Save computes them again, or, with the prefix
	// "late:", values that are computed in the phase that reads them first, or, with the prefix "arrive:", values from which
	// others are computed as their chunks arrive, or, with the prefix "anew:", values that are stored for far ends and computed
	// again at own ends, or, with the prefix "far:", values that are stored for far ends and not computed on arrival. nil: none.
	Store []string
	// Once is the number of intervals of each program of invariants. nil: Config.Chunks.
	Once []int
	// Groups is how many intervals a device visits at the same time, by phase of training and
	// last in evaluation; the order of sums depends on it. nil: one, with a machine model the fastest.
	Groups []int
	// Tiles is how many rows each kernel of training works on at a time on a GPU; the order of sums
	// depends on it. nil: as many as fit into Config.Mem.
	Tiles []int
	// Slices is how many slices of columns gathers are split into, at most 8. Each slice is gathered in
	// a sweep of its own: more vertices fit, and the edges are read once per slice. 1: no slices;
	// 0: with a machine model the fastest by simulation, else none.
	Slices int
	// Packing says whether cells hold the far ends of edges in as few bits as an interval
	// needs: "on" or "off". "": on GPUs if that is faster by simulation or if unpacked cells do not
	// fit; on a CPU never.
	Packing string
	// Wide is how many intervals cells reach over at their far end. 0: one or, on GPUs and unless Packing is given, as many as is fastest by simulation.
	Wide int
	// Inside says that rows of gradients are multiplied on edges of the backward pass, so that sums of the forward pass need not be kept for them. false: only
	// where that is fastest by simulation and Packing is not given.
	Inside bool
}

// Validate returns everything that is wrong with c, joined into one error.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if _, err := device.Count(c.Device); err != nil {
		errs = append(errs, err)
	} else if c.Device != "" && c.Mem == 0 {
		if err := device.Shared(c.Device); err != nil {
			errs = append(errs, fmt.Errorf("%w: say how much of its memory each device has (--mem)", err))
		}
	}
	for _, x := range []struct {
		what string
		n    int64
	}{{"memory budget", c.Mem}, {"host memory budget", c.HostMem}, {"number of chunks", int64(c.Chunks)}, {"least number of chunks", int64(c.MinChunks)}, {"prefetch", int64(c.Prefetch)}, {"number of epochs", int64(c.Epochs)},
		{"number of epochs between evaluations", int64(c.EvalEvery)}, {"patience", int64(c.Patience)}, {"number of epochs between decays of the learning rate", int64(c.Optimizer.DecayEvery)}} {
		if x.n < 0 {
			bad("%s %d is negative", x.what, x.n)
		}
	}
	if c.Chunks > chunk.MaxIntervals {
		bad("number of chunks %d is above %d", c.Chunks, chunk.MaxIntervals)
	}
	if !slices.Contains([]string{"", plan.Sag, plan.Stage, plan.DestOrder, plan.Auto}, c.Schedule) {
		bad("unknown schedule %q; there are sag, stage, dest-order, auto", c.Schedule)
	}
	if c.Schedule == plan.Auto && c.Machine == "" {
		bad("schedule auto needs a machine model to choose by")
	}
	if !slices.Contains(saves, c.Save) {
		bad("unknown save policy %q; there are %s", c.Save, strings.Join(saves[1:], ", "))
	}
	if len(c.Outcome.Store) > 0 && (c.Save == "" || c.Save == SaveAuto) {
		bad("values are stored beside a save policy, not beside auto")
	}
	if !slices.Contains(storages, c.Storage) {
		bad("unknown storage %q; there are %s", c.Storage, strings.Join(storages[1:], ", "))
	}
	known := append(dataflow.Passes(), "stream", "residency", "serpentine", "group", "row-gather", "balance", "degree-sort", "pack", "wide", "match", "draw", "in-place")
	for _, p := range c.Without {
		if !slices.Contains(known, p) {
			bad("unknown pass %q; there are %s", p, strings.Join(known, ", "))
		}
	}
	for _, o := range c.Outputs {
		if o != "hidden" && o != "logits" && o != outputFeatureGrad {
			bad("unknown output %q; there are hidden, logits, %s", o, outputFeatureGrad)
		}
	}
	errs = append(errs, c.Outcome.validate(), c.Optimizer.validate(), c.ranks())
	return errors.Join(errs...)
}

func (o *Outcome) validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if o.Slices < 0 || o.Slices > mostSlices {
		bad("number of slices %d is not between 0 (the choice is free) and %d", o.Slices, mostSlices)
	}
	if slices.ContainsFunc(o.Once, func(n int) bool { return n < 0 }) {
		bad("a number of intervals of %v is negative", o.Once)
	}
	if slices.ContainsFunc(o.Groups, func(n int) bool { return n < 1 }) {
		bad("a group of intervals of %v is less than one", o.Groups)
	}
	if slices.ContainsFunc(o.Tiles, func(n int) bool { return n < 1 }) {
		bad("a kernel's tile of %v has less than one row", o.Tiles)
	}
	if !slices.Contains(packings, o.Packing) {
		bad("unknown packing %q; there are %s", o.Packing, strings.Join(packings[1:], ", "))
	}
	return errors.Join(errs...)
}

// devices is the number of devices that Device names.
func (c *Config) devices() int {
	n, err := device.Count(c.Device)
	if err != nil {
		return 1
	}
	return n
}

func (c *Config) without(pass string) bool { return slices.Contains(c.Without, pass) }

// forForward is c for a forward pass: without what was chosen for training, which may not suit it.
func (c Config) forForward() Config {
	c.Chunks, c.Outcome.Once, c.Outcome.Groups = 0, nil, nil
	return c
}

// forBlocks is c for a forward pass over blocks.
func (c Config) forBlocks() Config {
	c = c.forForward()
	if c.HostMem > 0 { // batches that come ahead take memory of the host
		c.Without = append([]string{"stream"}, c.Without...)
	}
	c.Optimizer, c.Outputs = Optimizer{Kind: "sgd"}, nil // sgd has no moments
	return c
}

// ranks is an error if the devices cannot be divided among the ranks.
func (c *Config) ranks() error {
	r := c.Net.Ranks()
	if n := c.devices(); n%r != 0 {
		return fmt.Errorf("device %q: %d in all cannot be dealt to %d ranks, as many to each; --owners %d could, for one", c.Device, n, r, r)
	}
	return nil
}

// owned are the devices of this rank: n of them, beginning with number first.
func (c *Config) owned() (first, n int) {
	n = c.devices() / c.Net.Ranks()
	return n * c.Net.Rank(), n
}

// opens are the devices of Config.Device that this rank opens: n of them, beginning with number first. Ranks of
// one host divide its GPUs among them, beginning with the host's first. If a launcher lets a rank see exactly
// as many GPUs as it opens, these are its own.
func (c *Config) opens() (first, n int) {
	first, n = c.owned()
	if device.IsGPU(c.Device) {
		first = n * c.Net.Beside()
		if own, told := device.Visible(c.Device); told && own == n {
			first = 0
		}
	}
	return first, n
}

// gpus lists the GPUs that this rank opens, one line each with PCI address and host. The last line is
// CUDA_VISIBLE_DEVICES. It is "" if GPUs cannot be told apart.
func (c *Config) gpus() string {
	kind, visible := backend.Of(c.Device), os.Getenv("CUDA_VISIBLE_DEVICES")
	if !kind.GPU() || kind.System == nil || device.Shared(c.Device) != nil || strings.Contains(visible, "MIG-") { // MIG parts of a GPU have the same address
		return ""
	}
	sys, err := kind.System()
	if err != nil {
		return ""
	}
	_, index, err := device.Parse(c.Device)
	if err != nil {
		return ""
	}
	text := ""
	first, n := c.opens()
	for _, i := range index[first : first+n] {
		if bus, err := sys.Bus(i); err == nil {
			text += bus + " of host " + c.Net.Host() + "\n"
		}
	}
	return text + visible
}
