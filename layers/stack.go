package layers

import (
	"cmp"
	"fmt"

	"sagann/ops"
	"sagann/saga"
)

// Factors of edges in gcn, sgc and appnp: values of Options.Normalize.
const (
	NormSym       = "sym"        // 1/√(d_u·d_v), d being in-degrees
	NormSymWeight = "sym-weight" // w/√(d_u·d_v), w being weights in the graph and d their sums over in-edges
	NormWeight    = "weight"     // the weights in the graph as they are
	NormNone      = "none"       // 1
)

// Weighing tells whether a value of Options.Normalize reads the weights of edges.
func Weighing(normalize string) bool { return normalize == NormSymWeight || normalize == NormWeight }

// scale is what Normalize says; nil for 1.
func (o *Options) scale() (EdgeScale, error) {
	scales := map[string]EdgeScale{"": saga.Edge.SymNorm, NormSym: saga.Edge.SymNorm, NormSymWeight: saga.Edge.WeightNorm, NormWeight: EdgeWeight, NormNone: nil}
	scale, ok := scales[o.Normalize]
	if !ok {
		return nil, fmt.Errorf("unknown normalisation %q; there are %s, %s, %s, %s", o.Normalize, NormSym, NormSymWeight, NormWeight, NormNone)
	}
	return scale, nil
}

// builder makes the layers of a model from options that check has passed.
type builder struct {
	build     func(o Options) ([]saga.Layer, error)
	selfLoops bool     // every vertex without a self loop gets one
	reads     []string // which of the options below the model reads
}

// Options, and parts of a graph, that only some models read: arguments of Reading.
const (
	ReadsLayers    = "layers"
	ReadsSteps     = "steps"
	ReadsHeads     = "heads"
	ReadsNormalize = "normalize"
	ReadsHidden    = "hidden layers" // Activation, Norm, Residual
	ReadsAlpha     = "alpha"
	ReadsBias      = "bias"
	ReadsTypes     = "edge types" // of the graph
	ReadsData      = "edge data"
	ReadsInner     = "hidden columns" // within its layers, also if there is one
	ReadsInit      = "init"           // InitPyG and InitGlorot differ
)

// builders are the models. A new model needs a file and a row here.
var builders = map[string]builder{
	"gcn":     {gcn, true, []string{ReadsLayers, ReadsHidden, ReadsNormalize, ReadsBias}},
	"commnet": {alike(func(_ Options, in, out int, act Activation) saga.Layer { return CommNet(in, out, act) }), false, []string{ReadsLayers, ReadsHidden}},
	"mpgcn":   {alike(func(_ Options, in, out int, act Activation) saga.Layer { return MPGCN(in, out, act) }), false, []string{ReadsLayers, ReadsHidden}},
	"ggcn":    {alike(func(_ Options, in, out int, act Activation) saga.Layer { return GGCN(in, out, act) }), false, []string{ReadsLayers, ReadsHidden}},
	"ggnn":    {ggnn, false, []string{ReadsSteps, ReadsTypes, ReadsInner, ReadsInit}},
	"rgcn":    {alike(func(_ Options, in, out int, act Activation) saga.Layer { return RGCN(in, out, act) }), false, []string{ReadsLayers, ReadsHidden, ReadsTypes}},
	"sage":    {alike(func(o Options, in, out int, act Activation) saga.Layer { return SAGE(in, out, act, o.start()...) }), false, []string{ReadsLayers, ReadsHidden, ReadsInit}},
	"gin": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		return GIN(in, o.Hidden, out, act, o.start()...)
	}), false, []string{ReadsLayers, ReadsHidden, ReadsInner, ReadsInit}},
	"gat":      {attention(GAT), true, []string{ReadsLayers, ReadsHidden, ReadsHeads, ReadsBias, ReadsInit}},
	"gatv2":    {attention(GATv2), true, []string{ReadsLayers, ReadsHidden, ReadsHeads, ReadsBias, ReadsInit}},
	"resgated": {alike(func(o Options, in, out int, act Activation) saga.Layer { return ResGated(in, out, act, o.start()...) }), false, []string{ReadsLayers, ReadsHidden, ReadsInit}},
	"sgc": {func(o Options) ([]saga.Layer, error) {
		scale, err := o.scale()
		return sgc(o.Features, o.Classes, o.Steps, scale, o.start()...), err
	}, true, []string{ReadsSteps, ReadsNormalize, ReadsInit}},
	"mlp":   {alike(func(o Options, in, out int, act Activation) saga.Layer { return Linear(in, out, act, o.start()...) }), false, []string{ReadsLayers, ReadsHidden, ReadsInit}},
	"appnp": {appnp, true, []string{ReadsLayers, ReadsHidden, ReadsSteps, ReadsAlpha, ReadsNormalize, ReadsInit}},
	"edgemlp": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		return EdgeMLP(in, o.EdgeData, o.Hidden, out, act)
	}), false, []string{ReadsLayers, ReadsHidden, ReadsData, ReadsInner}},
}

// alike builds a model of layers of one form: features columns to hidden, hidden to
// hidden, hidden to classes, with ReLU between them.
func alike(layer func(o Options, in, out int, act Activation) saga.Layer) func(Options) ([]saga.Layer, error) {
	return func(o Options) ([]saga.Layer, error) {
		var l []saga.Layer
		in := o.Features
		for range o.Layers - 1 {
			l = append(l, o.between(func(act Activation) saga.Layer { return layer(o, in, o.Hidden, act) }, ops.ReLU))
			in = o.Hidden
		}
		return append(l, layer(o, in, o.Classes, nil)), nil
	}
}

func gcn(o Options) ([]saga.Layer, error) {
	scale, err := o.scale()
	if err != nil {
		return nil, err
	}
	return alike(func(o Options, in, out int, act Activation) saga.Layer { return GCN(in, out, scale, act, o.start()...) })(o)
}

// appnp predicts with linear layers and propagates the predictions.
func appnp(o Options) ([]saga.Layer, error) {
	scale, err := o.scale()
	if err != nil {
		return nil, err
	}
	l, err := alike(func(o Options, in, out int, act Activation) saga.Layer { return Linear(in, out, act, o.start()...) })(o)
	return append(l, appnpSteps(o.Classes, o.Steps, max(0, cmp.Or(o.Alpha, 0.1)), scale)...), err
}

// attention builds models like the paper's gat: heads are concatenated, and averaged in the last layer.
func attention(layer func(in, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer) func(Options) ([]saga.Layer, error) {
	return func(o Options) ([]saga.Layer, error) {
		var l []saga.Layer
		in := o.Features
		for range o.Layers - 1 {
			l = append(l, o.between(func(act Activation) saga.Layer {
				return layer(in, o.Hidden, o.Heads, false, o.AttentionDropout, act, o.start()...)
			}, ops.ELU))
			in = o.Heads * o.Hidden
		}
		return append(l, layer(in, o.Classes, o.OutHeads, true, o.AttentionDropout, nil, o.start()...)), nil
	}
}

// ggnn projects the features, passes messages for Steps steps that share their weights, and projects
// the states.
func ggnn(o Options) ([]saga.Layer, error) {
	input, output := Linear(o.Features, o.Hidden, nil, o.start()...), Linear(o.Hidden, o.Classes, nil, o.start()...)
	input.Scope, output.Scope = "input", "output"
	l := []saga.Layer{input}
	for range o.Steps {
		step := GGNN(o.Hidden, o.EdgeTypes, o.start()...)
		step.Scope = "step"
		l = append(l, step)
	}
	return append(l, output), nil
}
