package layers

import (
	"cmp"
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// Models of another form than layers alike.

// dropping is the name of layers that drop entries of what several layers behind them read.
const dropping = "dropout"

// hops are the names of layers whose input is not dropped in training: they pass on what a layer before them has made.
var hops = map[string]bool{propagation: true, "tag": true, "cheb": true, "lg": true, jumping: true}

// hopping builds models whose layers are Steps layers each.
func hopping(conv func(at, in, out, steps int, scale EdgeScale, act Activation, opts ...Option) []saga.Layer) func(Options) []saga.Layer {
	return stacked(hiddenColumns, ops.ReLU, func(o Options, k, at, in, out int, act Activation) (l []saga.Layer) {
		if o.Dropout > 0 {
			l = append(l, saga.Layer{Name: dropping, ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor { return v.Self }})
		}
		scale, _ := o.scale()
		for _, hop := range conv(at+len(l), in, out, o.Steps, scale, act, o.start()...) {
			hop.Scope = fmt.Sprint("layer", k+1)
			l = append(l, hop)
		}
		return l
	})
}

// framed builds models of Layers layers of Hidden columns between two linear layers.
func framed(o Options, input Activation, layer func(k int, act Activation) saga.Layer) []saga.Layer {
	return o.framedBy(input, ops.ReLU, layer)
}

// framedBy is framed with activation own behind the layers.
func (o *Options) framedBy(input, own Activation, layer func(k int, act Activation) saga.Layer) []saga.Layer {
	first := Linear(o.Features, o.Hidden, input, o.start()...)
	first.Scope = "input"
	return o.hiddenLayers([]saga.Layer{first}, own, layer)
}

// hiddenLayers are l, behind it Layers layers, and a linear layer.
func (o *Options) hiddenLayers(l []saga.Layer, own Activation, layer func(k int, act Activation) saga.Layer) []saga.Layer {
	var ends []int
	for k := range o.Layers {
		for _, next := range o.between(func(act Activation) []saga.Layer { return []saga.Layer{layer(k, act)} }, own, len(l)) {
			next.Scope = fmt.Sprint("layer", k+1)
			l = append(l, next)
		}
		ends = append(ends, len(l))
	}
	return o.ending(l, ends)
}

// ending is l, and behind it the layer that makes logits of the rows behind the layers of ends, or of the last of them alone.
func (o *Options) ending(l []saga.Layer, ends []int) []saga.Layer {
	if o.Between.Jump != "" {
		return append(l, o.jump(ends))
	}
	output := Linear(o.Hidden, o.Classes, nil, o.start()...)
	output.Scope = "output"
	return append(l, output)
}

func gcn2(o Options) []saga.Layer {
	scale, _ := o.scale()
	return framed(o, ops.ReLU, func(k int, act Activation) saga.Layer {
		return GCN2(o.Hidden, 1, k+1, o.alpha(), cmp.Or(o.Own.Theta, 0.5), scale, act)
	})
}

func cg(o Options) []saga.Layer {
	return framed(o, nil, func(_ int, act Activation) saga.Layer { return CG(o.Hidden, act, o.start()...) })
}

// hgt has linear layers of each vertex type before and behind its layers.
func hgt(o Options) []saga.Layer {
	o.Hidden *= o.Heads
	return o.framedBy(ops.ReLU, nil, func(_ int, act Activation) saga.Layer { return HGT(o.Hidden, o.Heads, act, o.start()...) })
}

// han has a linear layer behind its layers.
func han(o Options) []saga.Layer {
	o.Hidden *= o.Heads
	return o.hiddenLayers(nil, nil, func(_ int, act Activation) saga.Layer {
		return HAN(o.Hidden, o.Heads, o.AttentionDropout, act, o.start()...)
	})
}

// alpha is Alpha, or its default.
func (o *Options) alpha() float32 { return max(0, cmp.Or(o.Alpha, 0.1)) }

// appnp predicts with linear layers and propagates the predictions.
func appnp(o Options) []saga.Layer {
	scale, _ := o.scale()
	return append(alike(optional(Linear))(o), appnpSteps(o.Classes, o.Steps, o.alpha(), scale)...)
}

func sgcSteps(o Options) []saga.Layer {
	scale, _ := o.scale()
	l, _ := o.projection(nil, o.Hidden)
	at := len(l)
	l = append(l, sgc(o.Classes, o.Steps, scale, o.start()...)...)
	if o.Between.Jump == "" {
		return l
	}
	l[len(l)-1].ApplyVertex = nil
	return append(l, o.jump(upTo(at+1, len(l))))
}

// lg propagates rows of Classes columns. Links are scored by learned rows as they are, if they have as many.
func lg(o Options) (l []saga.Layer) {
	scale, _ := o.scale()
	if o.Task != saga.LinkTask || o.Features != o.Classes {
		l = append(l, Linear(o.Features, o.Classes, nil, o.start()...))
	}
	at := len(l)
	l = append(l, LG(at, o.Steps, scale)...)
	if o.Between.Jump == "" {
		return l
	}
	l[len(l)-1].ApplyVertex = nil
	return append(l, o.jump(upTo(at, len(l))))
}

// upTo are the numbers from first to last.
func upTo(first, last int) (list []int) {
	for k := first; k <= last; k++ {
		list = append(list, k)
	}
	return list
}

// ggnn projects the features, passes messages for Steps steps that share their weights, and projects
// the states.
func ggnn(o Options) []saga.Layer {
	input := Linear(o.Features, o.Hidden, nil, o.start()...)
	input.Scope = "input"
	l := []saga.Layer{input}
	for range o.Steps {
		step := GGNN(o.Hidden, o.EdgeTypes, o.start()...)
		step.Scope = "step"
		l = append(l, step)
	}
	return o.ending(l, upTo(2, len(l)))
}
