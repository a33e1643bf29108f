package layers

import (
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// Ways to weigh the edges of gcn.
const (
	NormSym    = "sym"    // 1/√(d_u·d_v), d being in-degrees
	NormWeight = "weight" // the weights that the graph has
	NormNone   = "none"   // 1
)

// builders make the layers of a model from options that check has passed.
var builders = map[string]func(o Options) ([]saga.Layer, error){
	"gcn":      gcn,
	"commnet":  alike(func(_ Options, in, out int, act Activation) saga.Layer { return CommNet(in, out, act) }),
	"mpgcn":    alike(func(_ Options, in, out int, act Activation) saga.Layer { return MPGCN(in, out, act) }),
	"ggcn":     alike(func(_ Options, in, out int, act Activation) saga.Layer { return GGCN(in, out, act) }),
	"ggnn":     ggnn,
	"sage":     alike(func(_ Options, in, out int, act Activation) saga.Layer { return SAGE(in, out, act) }),
	"gin":      alike(func(o Options, in, out int, act Activation) saga.Layer { return GIN(in, o.Hidden, out, act) }),
	"gat":      attention(GAT),
	"gatv2":    attention(GATv2),
	"resgated": alike(func(_ Options, in, out int, act Activation) saga.Layer { return ResGated(in, out, act) }),
	"edgemlp": alike(func(o Options, in, out int, act Activation) saga.Layer {
		return EdgeMLP(in, o.EdgeData, o.Hidden, out, act)
	}),
}

// alike builds a model of layers of one form: features columns to hidden, hidden to
// hidden, hidden to classes, with ReLU between them.
func alike(layer func(o Options, in, out int, act Activation) saga.Layer) func(Options) ([]saga.Layer, error) {
	return func(o Options) ([]saga.Layer, error) {
		var l []saga.Layer
		in := o.Features
		for range o.Layers - 1 {
			l = append(l, layer(o, in, o.Hidden, ops.ReLU))
			in = o.Hidden
		}
		return append(l, layer(o, in, o.Classes, nil)), nil
	}
}

func gcn(o Options) ([]saga.Layer, error) {
	scales := map[string]EdgeScale{"": saga.Edge.SymNorm, NormSym: saga.Edge.SymNorm, NormWeight: EdgeWeight, NormNone: nil}
	scale, ok := scales[o.Normalize]
	if !ok {
		return nil, fmt.Errorf("unknown normalisation %q; there are %s, %s, %s", o.Normalize, NormSym, NormWeight, NormNone)
	}
	return alike(func(_ Options, in, out int, act Activation) saga.Layer { return GCN(in, out, scale, act) })(o)
}

// attention builds models as the paper's gat: heads side by side, their mean in the last layer.
func attention(layer func(in, width, heads int, mean bool, drop float32, act Activation) saga.Layer) func(Options) ([]saga.Layer, error) {
	return func(o Options) ([]saga.Layer, error) {
		var l []saga.Layer
		in := o.Features
		for range o.Layers - 1 {
			l = append(l, layer(in, o.Hidden, o.Heads, false, o.AttentionDropout, ops.ELU))
			in = o.Heads * o.Hidden
		}
		return append(l, layer(in, o.Classes, o.OutHeads, true, o.AttentionDropout, nil)), nil
	}
}

// ggnn projects the features, lets one set of weights pass messages, and projects
// the states.
func ggnn(o Options) ([]saga.Layer, error) {
	input, output := Linear(o.Features, o.Hidden, nil), Linear(o.Hidden, o.Classes, nil)
	input.Scope, output.Scope = "input", "output"
	l := []saga.Layer{input}
	for range o.Steps {
		step := GGNN(o.Hidden, o.EdgeTypes)
		step.Scope = "step"
		l = append(l, step)
	}
	return append(l, output), nil
}
