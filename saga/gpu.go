package saga

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/kernel"
)

// scratchShare is the part of the budget, one in so many, that the kernels may take for
// what lies between them. Less leaves chunks more room, but products then work on few rows
// at a time.
const scratchShare = 16

// reserveScratch finds what the kernels need on a GPU beside the memory that plans lay
// out, whatever chooseSave will choose: it comes off the budget before planning.
func (p *Program) reserveScratch(once []*dataflow.Lowered) (err error) {
	asked := p.cfg.Save
	defer func() { p.cfg.Save = asked }()
	for _, save := range p.saveChoices() {
		low := p.train.low
		if save != "" {
			p.cfg.Save = save
			if low, _, err = p.lowerTrain(); err != nil {
				return err
			}
		}
		if err := p.reserveFor(append([]*dataflow.Lowered{low, p.eval.low}, once...)); err != nil {
			return err
		}
	}
	return nil
}

// reserveFor makes the reserve what the kernels of these programs need, at least.
func (p *Program) reserveFor(list []*dataflow.Lowered) error {
	n, err := p.scratch(list, p.scratchBound())
	p.reserve = max(p.reserve, n)
	return err
}

// scratchBound is the kernels' share of the budget; 0: no bound.
func (p *Program) scratchBound() int64 {
	if p.cfg.Mem == 0 {
		return 0
	}
	return max(1, p.cfg.Mem/scratchShare)
}

// saveChoices are the save policies that chooseSave may come to; "" is that of the
// program as it is.
func (p *Program) saveChoices() []string {
	if p.cfg.Save != "" && p.cfg.Save != SaveAuto || !strings.HasPrefix(p.cfg.Device, "cuda") {
		return []string{""}
	}
	return []string{"", SaveAll, SaveNone}
}

// scratchFits tells whether low may take the place of the training program: its kernels
// find the memory that they need beside the plan, in smaller tiles if need be.
func (p *Program) scratchFits(low *dataflow.Lowered) (bool, error) {
	if p.cfg.Mem == 0 {
		return true, p.reserveFor([]*dataflow.Lowered{low})
	}
	for _, bound := range []int64{p.scratchBound(), p.reserve - p.reserve/64, p.reserve - p.reserve/8, p.reserve - p.reserve/4, p.reserve / 2} {
		if n, err := p.scratch([]*dataflow.Lowered{low}, max(1, bound)); err != nil || n <= p.reserve {
			return err == nil, err
		}
	}
	return false, nil
}

// scratch is the memory that kernels of these programs take beside their plans on a GPU; it
// sets how many rows they work on at a time, so that a kernel takes about as much as bound;
// training in a run that goes on keeps what it had.
func (p *Program) scratch(list []*dataflow.Lowered, bound int64) (int64, error) {
	if !strings.HasPrefix(p.cfg.Device, "cuda") {
		return 0, nil
	}
	rows, all := p.Totals()
	edges := int(all)
	var programs [][]*kernel.Program
	for _, l := range list {
		for _, g := range l.Spec.Globals {
			rows = max(rows, g.Rows)
		}
		for i, k := range l.Kernels {
			tile, err := kernel.TileWithin(k, bound)
			if err != nil {
				return 0, err
			}
			if p.train != nil && l == p.train.low && len(p.cfg.Tiles) == len(l.Kernels) {
				tile = p.cfg.Tiles[i]
			}
			l.SetTile(i, tile)
		}
		programs = append(programs, l.Kernels)
	}
	return exec.Scratch(rows, edges, programs...)
}

// withScratch is the smallest budget from the present one on in which need bytes are left
// for plans. The kernels' share grows with it: set finds their reserve for p.cfg.Mem.
func (p *Program) withScratch(need int64, set func() error) (int64, error) {
	mem, reserve := p.cfg.Mem, p.reserve
	defer func() { p.cfg.Mem, p.reserve = mem, reserve }()
	for p.cfg.Mem < need+p.reserve {
		p.cfg.Mem = need + p.reserve
		if err := set(); err != nil {
			return 0, err
		}
	}
	return need + p.reserve, nil
}

// planBudget is the part of the budget that plans may use; 0 is no bound.
func (p *Program) planBudget() int64 {
	if p.cfg.Mem == 0 {
		return 0
	}
	return max(1, p.cfg.Mem-p.reserve)
}

// updateSource is Optimizer.sgd and Optimizer.adam, one thread a number. What writes a
// number that is not finite notes the parameter and the epoch; the first note stays.
const updateSource = `
typedef long long ll;
#define EACH for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (ll)blockDim.x)
__device__ float bits(ll x) { return __int_as_float((int)x); }
__device__ void check(float x, const float *step, volatile unsigned *note, ll number) {
	if (fabsf(x) <= 3.402823466e+38f || note[0]) return;
	note[1] = __float_as_uint(step[6]);
	note[0] = (unsigned)number;
}
extern "C" __global__ void sgd(const float *step, unsigned *note, float *w, const float *g, ll n, ll decay, ll number) {
	const float lr = step[0], wd = bits(decay);
	EACH {
		float x = w[i];
		w[i] = x -= lr * (g[i] + wd * x);
		check(x, step, note, number);
	}
}
extern "C" __global__ void momentum(const float *step, unsigned *note, float *w, const float *g, float *m, ll n, ll decay, ll number) {
	const float lr = step[0], mu = step[1], wd = bits(decay);
	EACH {
		float x = w[i], d = g[i] + wd * x + mu * m[i];
		m[i] = d;
		w[i] = x -= lr * d;
		check(x, step, note, number);
	}
}
__device__ void adam_(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, float wd, ll number, bool apart) {
	const float lr = step[0], b1 = step[1], b2 = step[2], eps = step[3], c1 = step[4], c2 = step[5];
	EACH {
		float d = g[i], x = w[i];
		if (apart) x -= lr * wd * x; else d += wd * x;
		float a = b1 * m[i] + (1.f - b1) * d, b = b2 * v[i] + (1.f - b2) * d * d;
		m[i] = a;
		v[i] = b;
		w[i] = x -= lr * (a / c1) / (sqrtf(b / c2) + eps);
		check(x, step, note, number);
		check(b, step, note, number);
	}
}
extern "C" __global__ void adam(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, ll decay, ll number) {
	adam_(step, note, w, g, m, v, n, bits(decay), number, false);
}
extern "C" __global__ void adamw(const float *step, unsigned *note, float *w, const float *g, float *m, float *v, ll n, ll decay, ll number) {
	adam_(step, note, w, g, m, v, n, bits(decay), number, true);
}
`

// gpuUpdate is the optimiser as device code, or nil where it needs the gradients of
// all parameters together, as clipping does.
func (p *Program) gpuUpdate() *exec.GPUUpdate {
	o, l := &p.cfg.Optimizer, p.train.low
	if o.ClipNorm > 0 {
		return nil
	}
	u := &exec.GPUUpdate{Source: updateSource, Name: o.Kind}
	if o.moments() == 1 {
		u.Name = "momentum"
	}
	for number, move := range l.Spec.Updates {
		g := l.Spec.Globals[move.Param]
		c := exec.UpdateCall{Globals: []int{move.Param, move.Grad}, N: g.Rows * g.Cols}
		for k := range o.moments() {
			c.Globals = append(c.Globals, l.Globals[fmt.Sprintf("moment%d:%s", k+1, g.Name)])
		}
		decay := float32(0)
		i := slices.IndexFunc(p.params, func(q Param) bool { return q.Name == g.Name })
		if o.DecayAll || p.params[i].Layer == 0 {
			decay = o.WeightDecay
		}
		c.Words = []uint64{uint64(math.Float32bits(decay)), uint64(number + 1)}
		u.Calls = append(u.Calls, c)
	}
	u.Step = func() []float32 {
		t := float64(p.epoch + 1)
		epoch := math.Float32frombits(uint32(p.epoch + 1))
		if o.Kind == "sgd" {
			return []float32{o.rate(p.epoch), o.Momentum, 0, 0, 0, 0, epoch}
		}
		return []float32{o.rate(p.epoch), o.Beta1, o.Beta2, o.Eps,
			float32(1 - math.Pow(float64(o.Beta1), t)), float32(1 - math.Pow(float64(o.Beta2), t)), epoch}
	}
	return u
}
