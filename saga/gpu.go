package saga

import (
	"math"

	"sagann/dataflow/exec"
	"sagann/kernel"
)

// gpuUpdate is the optimiser as device code. It is nil if the optimiser clips gradients, which needs
// those of all parameters together: then it runs on the host.
func (p *Program) gpuUpdate() *exec.GPUUpdate {
	o, l := &p.cfg.Optimizer, p.train.low
	if o.ClipNorm > 0 {
		return nil
	}
	u := &exec.GPUUpdate{Kind: map[string]kernel.Optimizer{"sgd": kernel.SGD, "adam": kernel.Adam, "adamw": kernel.AdamW}[o.Kind]}
	if o.moments() == 1 {
		u.Kind = kernel.Momentum
	}
	for number, move := range l.Spec.Updates {
		g := l.Spec.Globals[move.Param]
		q, err := p.param(g.Name)
		if err != nil {
			return nil
		}
		c := exec.UpdateCall{Param: move.Param, Grad: move.Grad, N: g.Rows * g.Cols, Number: number + 1, Share: q.Average}
		for k := range p.momentsOf(q) {
			c.Moments = append(c.Moments, l.Globals[momentName(k, g.Name)])
		}
		if p.decays(g.Name) {
			c.Decay = o.WeightDecay
		}
		u.Calls = append(u.Calls, c)
	}
	u.Step = func() []float32 {
		t := float64(p.updates() + 1)
		epoch, update := math.Float32frombits(uint32(p.epoch+1)), math.Float32frombits(uint32(p.updates()+1))
		if o.Kind == "sgd" {
			return []float32{p.rate(), o.Momentum, 0, 0, 0, 0, epoch, update}
		}
		return []float32{p.rate(), o.Beta1, o.Beta2, o.Eps,
			float32(1 - math.Pow(float64(o.Beta1), t)), float32(1 - math.Pow(float64(o.Beta2), t)), epoch, update}
	}
	return u
}
