package saga

import (
	"fmt"
	"math"
)

// Optimizer updates parameters from their gradients.
type Optimizer struct {
	Kind        string  // "adam" (default), "adamw" or "sgd"
	LR          float32 // learning rate; 0: 0.01. No run has the rate 0, which would train nothing
	Momentum    float32 // sgd
	Beta1       float32 // adam; 0: 0.9
	Beta2       float32 // adam; 0: 0.999
	Eps         float32 // adam; 0: 1e-8
	WeightDecay float32 // times the weight added to the gradient; with adamw times LR subtracted from the weight
	DecayAll    bool    // weight decay for every layer; otherwise for the first layer only
	ClipNorm    float32 // all gradients together are scaled down to this 2-norm; 0: they are not
	Gamma       float32 // the learning rate is multiplied by Gamma every DecayEvery epochs; 0: it is not
	DecayEvery  int
	Schedule    Schedule
}

// defaults replaces zeros by the defaults; epochs is Config.Epochs.
func (o *Optimizer) defaults(epochs int) {
	o.Schedule.defaults(epochs)
	set := func(x *float32, v float32) {
		if *x == 0 {
			*x = v
		}
	}
	if o.Kind == "" {
		o.Kind = "adam"
	}
	set(&o.LR, 0.01)
	set(&o.Beta1, 0.9)
	set(&o.Beta2, 0.999)
	set(&o.Eps, 1e-8)
}

func (o *Optimizer) validate() error {
	switch o.Kind {
	case "", "adam", "adamw", "sgd":
	default:
		return fmt.Errorf("unknown optimizer %q; there are adam, adamw, sgd", o.Kind)
	}
	for _, x := range []struct {
		name  string
		value float32
		below float32 // upper bound; 0: none
	}{
		{"learning rate", o.LR, 0}, {"momentum", o.Momentum, 1}, {"beta1", o.Beta1, 1}, {"beta2", o.Beta2, 1}, {"eps", o.Eps, 0},
		{"weight decay", o.WeightDecay, 0}, {"gradient norm", o.ClipNorm, 0}, {"learning-rate factor", o.Gamma, 0},
	} {
		if x.value < 0 || math.IsNaN(float64(x.value)) || math.IsInf(float64(x.value), 0) {
			return fmt.Errorf("optimizer: the %s is %v; it must be finite and not negative", x.name, x.value)
		}
		if x.below > 0 && x.value >= x.below {
			return fmt.Errorf("optimizer: the %s is %v; it must be below %v, or nothing is ever forgotten", x.name, x.value, x.below)
		}
	}
	return o.Schedule.validate(o)
}

// moments is the number of state tensors per parameter.
func (o *Optimizer) moments() int {
	switch {
	case o.Kind != "sgd":
		return 2
	case o.Momentum > 0:
		return 1
	}
	return 0
}

// slot is one parameter with its gradient and its state.
type slot struct {
	w, g  []float32
	m     [][]float32
	decay bool

	average float32 // Param.Average: w only moves by this share towards g; 0: w is trained
}

// move updates running statistics. It tells whether it has written a number that is not finite.
func (s *slot) move() (bad bool) {
	seen := uint32(0)
	for i, g := range s.g {
		s.w[i] += s.average * (g - s.w[i])
		seen |= topExponent(s.w[i])
	}
	return seen>>31 != 0
}

// apply is update number t, from 1, with learning rate lr. It returns the first slot in which it wrote
// a number that is not finite; -1: none.
func (o *Optimizer) apply(slots []slot, lr float32, t int) (spoiled int) {
	scale := float32(1)
	if o.ClipNorm > 0 {
		var sum float64
		for _, s := range slots {
			if s.average > 0 {
				continue
			}
			for _, x := range s.g {
				sum += float64(x) * float64(x)
			}
		}
		if n := math.Sqrt(sum); n > float64(o.ClipNorm) {
			scale = float32(float64(o.ClipNorm) / n)
		}
	}
	spoiled = -1
	for i, s := range slots {
		wd := float32(0)
		if s.decay {
			wd = o.WeightDecay
		}
		step := o.adam
		if o.Kind == "sgd" {
			step = o.sgd
		}
		bad := false
		if s.average > 0 {
			bad = s.move()
		} else {
			bad = step(s, lr, scale, wd, t)
		}
		if bad && spoiled < 0 {
			spoiled = i
		}
	}
	return spoiled
}

// sgd and adam tell whether they have written a number that is not finite. They check the weight,
// which a moment that is not finite makes not finite, too. Adam's second moment is an exception: if
// it is Inf the weight just never changes again, so adam checks it as well.

func (o *Optimizer) sgd(s slot, lr, scale, wd float32, _ int) (bad bool) {
	seen := uint32(0)
	for i, g := range s.g {
		g = g*scale + wd*s.w[i]
		if len(s.m) > 0 {
			g += o.Momentum * s.m[0][i]
			s.m[0][i] = g
		}
		s.w[i] -= lr * g
		seen |= topExponent(s.w[i])
	}
	return seen>>31 != 0
}

// corrections are what adam divides its two moments by in update t, from 1.
func (o *Optimizer) corrections(t int) (c1, c2 float32) {
	return float32(1 - math.Pow(float64(o.Beta1), float64(t))), float32(1 - math.Pow(float64(o.Beta2), float64(t)))
}

func (o *Optimizer) adam(s slot, lr, scale, wd float32, t int) (bad bool) {
	c1, c2 := o.corrections(t)
	m, v, seen := s.m[0], s.m[1], uint32(0)
	for i, g := range s.g {
		g *= scale
		if o.Kind == "adamw" {
			s.w[i] -= lr * wd * s.w[i]
		} else {
			g += wd * s.w[i]
		}
		m[i] = o.Beta1*m[i] + (1-o.Beta1)*g
		v[i] = o.Beta2*v[i] + (1-o.Beta2)*g*g
		s.w[i] -= lr * (m[i] / c1) / (float32(math.Sqrt(float64(v[i]/c2))) + o.Eps)
		seen |= topExponent(s.w[i]) | topExponent(v[i])
	}
	return seen>>31 != 0
}

// facts are the optimiser's kind and the numbers that this kind reads, for the digest.
func (o *Optimizer) facts() []string {
	list := []string{fmt.Sprintf("optimizer %s rate %s", o.Kind, digits(o.LR))}
	if o.Kind == "sgd" {
		list = append(list, "momentum "+digits(o.Momentum))
	} else {
		list = append(list, fmt.Sprintf("beta %s %s eps %s", digits(o.Beta1), digits(o.Beta2), digits(o.Eps)))
	}
	if o.Gamma > 0 && o.DecayEvery > 0 {
		list = append(list, fmt.Sprintf("rate times %s every %d", digits(o.Gamma), o.DecayEvery))
	}
	if o.ClipNorm > 0 {
		list = append(list, "clip "+digits(o.ClipNorm))
	}
	return append(list, o.Schedule.facts()...)
}

// topExponent has its highest bit set if and only if x is not finite: then all 8 bits of the exponent
// are set, and adding 1 to them carries into the sign bit. Loops OR the results, without a branch.
func topExponent(x float32) uint32 { return math.Float32bits(x)&(0xff<<23) + 1<<23 }
