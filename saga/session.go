package saga

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan/order"
	"sagann/device"
	"sagann/saga/batches"
	"sagann/saga/rows"
)

// session is what an open program has: devices and their memory, inputs in the order of its plans,
// and runners. The runners know what device memory holds and what must be loaded again
// (exec/holds.go); the session keeps copies of what would be lost.
type session struct {
	p       *Program
	devices []device.Device
	arena   *exec.Arena
	inputs  map[string][]byte    // by name: rows laid out, in memory or in one of files
	files   []*device.HostFile   // files of inputs
	train   *exec.Runner         // training, or the forward pass
	eval    *exec.Runner         // nil until the first evaluation
	ahead   *exec.Runner         // the forward pass of a LinkTask; nil until the first step
	tables  tables               // sampled training: learned rows
	source  batches.Source       // sampled training: has batches ready; nil until a runner is made
	peers   []*session           // sampled training: the sessions of the other devices
	main    *session             // of a peer: the program's session; nil: this is it
	number  int                  // the device's number among all
	grads   map[string][]float32 // gradients of the last step, once the devices do not hold them any more
	spoiled atomic.Pointer[spoiled]
}

// errClosed is the error of every use of a closed program.
var errClosed = errors.New("saga: the program is closed; Open takes device memory again, with the initial parameters")

// openSession takes peak bytes of memory on every device of the configuration.
func (p *Program) openSession(peak int64) (*session, error) {
	if err := p.checkSpace(); err != nil {
		return nil, err
	}
	l := p.mode.layout()
	return p.openOn(l.first, l.devices, peak)
}

// openOn takes peak bytes of memory on n devices, the first of them number first.
func (p *Program) openOn(first, n int, peak int64) (*session, error) {
	m := &p.chosen.memory
	budget := peak + m.scratch + p.sampled.drawing() // no more than is needed, whatever the bound: others may use the device, too
	devices, err := device.Open(cmp.Or(p.cfg.Device, backend.Default().Name), budget, device.Part(first, n))
	if err != nil {
		return nil, err
	}
	s, err := p.sessionOn(devices, peak)
	if err != nil {
		return nil, err
	}
	s.arena.TF32, s.arena.Scratch = p.cfg.TF32, m.scratch
	return s, nil
}

// sessionOn takes peak bytes of memory on devices. If that fails, it closes them.
func (p *Program) sessionOn(devices []device.Device, peak int64) (*session, error) {
	s := &session{p: p, devices: devices, inputs: map[string][]byte{}}
	var err error
	if s.arena, err = exec.NewArena(devices, peak); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.arena.FilesIn(p.cfg.Scratch)
	if l := p.mode.layout(); l.apart {
		s.number = l.number
		return s, nil
	}
	first, _ := p.cfg.owned()
	s.arena.Over(p.cfg.Net, first)
	if p.cfg.Net.Ranks() > 1 && device.IsGPU(p.cfg.Device) {
		if err := s.joinGPUs(first); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// joinGPUs makes one NCCL communicator of the GPUs of all ranks, if all ranks can use NCCL.
func (s *session) joinGPUs(first int) error {
	g := s.p.cfg.Net
	use, err := g.GPUs.Use(g, device.OpenNCCL)
	if !use || err != nil {
		return err
	}
	id := make([]byte, device.NCCLIDBytes)
	if g.Rank() == 0 {
		id, err = device.NCCLID()
	}
	if err := g.Agree("NCCL", err); err != nil {
		return err
	}
	if err := g.Bcast("name of the NCCL communicator", id, 0); err != nil {
		return err
	}
	s.arena.Direct = true
	return g.Agree("joining NCCL", device.JoinNCCL(s.devices, id, first, s.p.cfg.devices()))
}

// close frees everything.
func (s *session) close() error {
	s.rewind()
	var err error
	for _, x := range s.peers {
		err = errors.Join(err, x.close())
	}
	for _, r := range []*exec.Runner{s.train, s.eval, s.ahead} {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	if s.source != nil {
		err = errors.Join(err, s.source.Close())
	}
	if s.arena != nil {
		err = errors.Join(err, s.arena.Close())
	}
	for _, d := range s.devices {
		err = errors.Join(err, d.Close())
	}
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// start makes a runner for u: kernels, inputs, constants. The first is that of training, the others
// share its memory. A runner that is returned with an error must be closed, too.
func (s *session) start(u *unit) (*exec.Runner, error) {
	p := s.p
	if u.plan.Places.Sets != nil { // over sampled blocks: inputs come with every batch
		var err error
		if s.train, err = exec.NewRunner(s.arena, u.plan, u.low.Kernels); err != nil {
			return nil, err
		}
		var tables *exec.Runner
		if s.main != nil {
			tables = s.main.train
		}
		if s.source, err = p.sampled.maker.Source(s.train, s.devices[0], s.turn(), tables); err != nil {
			return s.train, err
		}
		return s.train, s.setConsts(u, s.train)
	}
	g, err := p.grids.gridFor(u.plan.Cells, p.chosen.want)
	if err != nil {
		return nil, err
	}
	part, err := order.Part(u.plan, p.cfg.Net.Rank()%p.ranks(), p.ranks())
	if err != nil {
		return nil, err
	}
	var run *exec.Runner
	if s.train != nil {
		run, err = s.train.Beside(part, u.low.Kernels, g.grids...)
	} else {
		run, err = exec.NewRunner(s.arena, part, u.low.Kernels, g.grids...)
		s.train = run
	}
	if err != nil {
		return nil, err
	}
	for in, id := range u.low.Inputs {
		name := inputName(in)
		laid, ok := s.inputs[name]
		if !ok {
			start := time.Now()
			if laid, err = s.layOut(in, g.orderOf(in.Set.Type), ownOf(&p.cfg, run, u, id), u.plan.OnDisk(id)); err != nil {
				return run, fmt.Errorf("input %s: %w", name, err)
			}
			since(&p.stages.Layout, start)
			s.inputs[name] = laid
		}
		if err := run.SetInput(id, laid); err != nil {
			return run, err
		}
	}
	return run, s.setConsts(u, run)
}

// ownOf are the rows of input id of u that this rank holds.
func ownOf(c *Config, run *exec.Runner, u *unit, id int) rows.Owned {
	if !run.Owns(id) {
		return rows.All(u.plan.Span(id).V)
	}
	first, n := c.owned()
	return rows.OwnedBy(u.plan, id, first, n)
}

// inputName is the name of an input among those of all types.
func inputName(in dataflow.Input) string {
	if in.Set.Type == 0 {
		return in.Name
	}
	return fmt.Sprintf("%s@%d", in.Name, in.Set.Type)
}

// layOut lays out the rows of input i that own has, in order o, in memory or in a file of the session.
func (s *session) layOut(i dataflow.Input, o *chunk.Order, own rows.Owned, disk bool) ([]byte, error) {
	in, name := s.p.in.source(i)
	if !disk {
		return in.Layout(name, o, own)
	}
	f, err := device.NewHostFile(s.p.cfg.Scratch, own.Bytes(in.Width(name)))
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	return f.Bytes(), in.LayoutFile(f, name, o, own)
}

// setConsts sets the Globals of u that do not change from step to step.
func (s *session) setConsts(u *unit, run *exec.Runner) error {
	for id, x := range u.low.Consts {
		if err := run.SetGlobal(id, []float32{x}); err != nil {
			return err
		}
	}
	for name, id := range u.low.Globals {
		if u.plan.Places.Sets != nil && rows.OfGraphs(name) { // come with every batch
			continue
		}
		if rows.OfGraphs(name) || rows.OfClasses(name) {
			x, err := s.p.in.Global(name, s.p.dims.graphs)
			if err == nil {
				err = run.SetGlobal(id, x)
			}
			if err != nil {
				return err
			}
		}
	}
	return s.setStep(u, run)
}

// setStep sets what the next step of u reads of it: seed, number of the step, and optimiser rates.
func (s *session) setStep(u *unit, run *exec.Runner) error {
	if id, ok := u.low.Globals[rateInput]; ok {
		if err := run.SetGlobal(id, s.p.cfg.Optimizer.rates(s.p.epoch, s.p.rate())); err != nil {
			return err
		}
	}
	id, ok := u.low.Globals[dataflow.StepInput]
	if !ok {
		return nil
	}
	word := func(x uint64) float32 { return math.Float32frombits(uint32(x)) }
	seed := s.p.cfg.Seed
	return run.SetGlobal(id, []float32{word(seed), word(seed >> 32), word(s.p.clock()), 0})
}

// rows is value id of u after a step of run, V×cols in the user's order, and cols.
func (s *session) rows(u *unit, run *exec.Runner, id int) ([]float32, int) {
	v, cols := u.plan.Span(id).V, u.plan.Spec.Values[id].Cols
	x := make([]float32, v*cols)
	from, ld, o := run.Output(id), chunk.LD(cols), s.p.grids.orderOfType(u.plan.Cells, u.plan.Spec.Values[id].Type)
	rows.Blocks(v, ld, func(lo, hi int) error {
		chunk.UnpermuteRows(x[lo*cols:hi*cols], device.View[float32](from), cols, ld, o, lo, hi)
		device.Drop(from)
		return nil
	})
	return x, cols
}

// peak is the most device memory in bytes that any device has held.
func (s *session) peak() int64 {
	var most int64
	for _, x := range s.all() {
		for _, d := range x.devices {
			most = max(most, d.Counters().Peak)
		}
	}
	return most
}

// alone runs one step of u in a session of its own. set is called before the step and read after it;
// set may be nil.
func (p *Program) alone(u *unit, set, read func(*session) error) error {
	s, err := p.openSession(u.plan.Peak)
	if err != nil {
		return err
	}
	_, err = s.start(u)
	for _, do := range []func(*session) error{set, func(s *session) error { return s.train.Step() }, read} {
		if err == nil && do != nil {
			err = do(s)
		}
	}
	return errors.Join(err, s.close())
}

// rewind ends what prepares batches, of all devices.
func (s *session) rewind() {
	for _, x := range s.all() {
		if x.source != nil {
			x.source.Rewind()
		}
	}
}

// turn says which batches of an update the session's device computes.
func (s *session) turn() batches.Turn { return batches.Turn{Number: s.number, Of: s.of()} }

// all lists the sessions of this rank's devices.
func (s *session) all() []*session { return append([]*session{s}, s.peers...) }

// openPeers opens a session for each further device.
func (s *session) openPeers(peak int64) error {
	l := s.p.mode.layout()
	for i := range l.peers {
		peer, err := s.p.openOn(l.first+1+i, 1, peak)
		if err != nil {
			return err
		}
		s.addPeer(peer)
	}
	return nil
}

func (s *session) addPeer(peer *session) {
	s.peers = append(s.peers, peer)
	peer.main, peer.number = s, s.number+len(s.peers)
	peer.arena.SharePins(s.arena)
}

// of is how many sessions share the batches, with those of other ranks.
func (s *session) of() int {
	if s.main != nil {
		return s.main.of()
	}
	return (len(s.peers) + 1) * s.p.cfg.Net.Ranks()
}
