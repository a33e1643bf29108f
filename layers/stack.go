package layers

import (
	"cmp"
	"fmt"
	"slices"

	"sagann/ops"
	"sagann/saga"
)

// Factors of edges in gcn, sgc, appnp and the other models that multiply messages by one: values of Options.Normalize.
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
	build     func(o Options) []saga.Layer
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
	ReadsDataAsked = "edge data, as asked" // Own.Edges
	ReadsDelta     = "delta"
	ReadsTheta     = "theta"
	ReadsFrame     = "frame" // linear layers before and behind the others, so that all of these are hidden layers
	ReadsBases     = "bases and blocks"
	ReadsInner     = "hidden columns" // within its layers, also if there is one
	ReadsInit      = "init"           // InitPyG and InitGlorot differ
	ReadsProject   = "projection"
)

// layered are the options that models of --layers layers read.
var layered = []string{ReadsLayers, ReadsHidden}

// builders are the models. A new model needs a file and a row here.
var builders = map[string]builder{
	"gcn":     {alike(scaled(GCN)), true, reading(ReadsNormalize, ReadsBias)},
	"commnet": {alike(func(_ Options, in, out int, act Activation) saga.Layer { return CommNet(in, out, act) }), false, reading()},
	"mpgcn":   {alike(func(_ Options, in, out int, act Activation) saga.Layer { return MPGCN(in, out, act) }), false, reading()},
	"ggcn":    {alike(func(_ Options, in, out int, act Activation) saga.Layer { return GGCN(in, out, act) }), false, reading()},
	"ggnn":    {ggnn, false, []string{ReadsSteps, ReadsTypes, ReadsInner, ReadsInit}},
	"rgcn": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		switch {
		case o.Own.Bases > 0:
			return RGCNBases(in, out, o.Own.Bases, act)
		case o.Own.Blocks > 0:
			return RGCNBlocks(in, out, o.Own.Blocks, act)
		}
		return RGCN(in, out, act)
	}), false, reading(ReadsTypes, ReadsBases)},
	"hgt": {hgt, false, framing(ReadsHeads, ReadsFrame, ReadsInner)},
	"han": {han, false, framing(ReadsHeads, ReadsInner)},

	"sage":  {alike(optional(SAGE)), false, reading(ReadsInit)},
	"gin":   {alike(inner(GIN)), false, reading(ReadsInner, ReadsInit)},
	"gine":  {alike(inner(GINE)), false, reading(ReadsInner, ReadsInit, ReadsData, ReadsDataAsked)},
	"gat":   {attention(GAT), true, reading(ReadsHeads, ReadsBias, ReadsInit, ReadsData, ReadsDataAsked)},
	"gatv2": {attention(GATv2), true, reading(ReadsHeads, ReadsBias, ReadsInit, ReadsData, ReadsDataAsked)},

	"transformer": {attention(Transformer), false, reading(ReadsHeads, ReadsInit, ReadsData, ReadsDataAsked)},

	"resgated": {alike(optional(ResGated)), false, reading(ReadsInit)},
	"graphconv": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		o.Normalize = cmp.Or(o.Normalize, NormNone)
		return scaled(GraphConv)(o, in, out, act)
	}), false, reading(ReadsNormalize, ReadsInit)},
	"edgeconv": {alike(inner(EdgeConv)), false, reading(ReadsInner, ReadsInit)},
	"nnconv":   {alike(inner(NNConv)), false, reading(ReadsInner, ReadsInit, ReadsData)},
	"film":     {alike(optional(FiLM)), false, reading(ReadsInit)},
	"gen":      {alike(optional(GEN)), false, reading(ReadsInit, ReadsData, ReadsDataAsked)},
	"pna": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		return PNA(in, out, cmp.Or(o.Own.Delta, 1), act)
	}), false, reading(ReadsDelta)},
	"tag":  {hopping(TAG), false, reading(ReadsSteps, ReadsNormalize, ReadsInit)},
	"cheb": {hopping(Cheb), false, reading(ReadsSteps, ReadsNormalize)},
	"gcn2": {gcn2, true, framing(ReadsNormalize, ReadsAlpha, ReadsTheta, ReadsInner, ReadsFrame, ReadsInit)},
	"cg":   {cg, false, framing(ReadsInner, ReadsFrame, ReadsInit, ReadsData, ReadsDataAsked)},

	"sgc":   {sgcSteps, true, []string{ReadsSteps, ReadsNormalize, ReadsInit, ReadsProject}},
	"mlp":   {alike(optional(Linear)), false, reading(ReadsInit)},
	"appnp": {appnp, true, reading(ReadsSteps, ReadsAlpha, ReadsNormalize, ReadsInit)},
	"lg":    {lg, false, []string{ReadsSteps, ReadsNormalize, ReadsInit}},
	"edgemlp": {alike(func(o Options, in, out int, act Activation) saga.Layer {
		return EdgeMLP(in, o.EdgeData, o.Hidden, out, act)
	}), false, reading(ReadsData, ReadsInner)},
}

// reading are the options that models of stacked layers read, framing those of models that have a linear layer of their own before or in the
// first.
func reading(more ...string) []string { return slices.Concat(layered, []string{ReadsProject}, more) }
func framing(more ...string) []string { return slices.Concat(layered, more) }

// stacked builds a model of Layers layers, which conv makes: the k-th, behind so many layers of the model, from in columns to out. act
// is nil in the last. Hidden layers have as many columns as width says, and the activation own unless the options have another.
// With Between.Jump all are hidden layers, and another reads their rows.
func stacked(width func(o Options) int, own Activation, conv func(o Options, k, at, in, out int, act Activation) []saga.Layer) func(Options) []saga.Layer {
	return func(o Options) []saga.Layer {
		l, in := o.projection(own, width(o))
		var ends []int
		last := o.Layers - 1
		for k := range o.Layers {
			at := len(l)
			if k == last && o.Between.Jump == "" {
				l = append(l, conv(o, k, at, in, o.Classes, nil)...)
			} else {
				l = append(l, o.between(func(act Activation) []saga.Layer { return conv(o, k, at, in, width(o), act) }, own, at)...)
				in, ends = width(o), append(ends, len(l))
			}
			for i := range l[at:] {
				if o.Between.Project { // as without
					l[at+i].Scope = fmt.Sprint("layer", k+1)
				}
			}
		}
		if o.Between.Jump == "" {
			return l
		}
		return append(l, o.jump(ends))
	}
}

// projection is the layer of Options.Project, nil without, and how many columns its rows have.
func (o *Options) projection(own Activation, width int) (l []saga.Layer, cols int) {
	if !o.Between.Project {
		return nil, o.Features
	}
	if act, ok := activations[o.Between.Activation]; ok {
		own = act
	}
	first := Linear(o.Features, width, own, o.start()...)
	first.Scope = "input"
	return []saga.Layer{first}, width
}

func hiddenColumns(o Options) int { return o.Hidden }

// alike builds a model of layers of one form, with ReLU between them.
func alike(layer func(o Options, in, out int, act Activation) saga.Layer) func(Options) []saga.Layer {
	return stacked(hiddenColumns, ops.ReLU, func(o Options, _, _, in, out int, act Activation) []saga.Layer {
		return []saga.Layer{layer(o, in, out, act)}
	})
}

// optional is a layer that reads options of layers, inner one that has Hidden columns within, and scaled one with factors of
// edges.
func optional(layer func(in, out int, act Activation, opts ...Option) saga.Layer) func(o Options, in, out int, act Activation) saga.Layer {
	return func(o Options, in, out int, act Activation) saga.Layer { return layer(in, out, act, o.start()...) }
}

func inner(layer func(in, hidden, out int, act Activation, opts ...Option) saga.Layer) func(o Options, in, out int, act Activation) saga.Layer {
	return func(o Options, in, out int, act Activation) saga.Layer {
		return layer(in, o.Hidden, out, act, o.start()...)
	}
}

func scaled(layer func(in, out int, scale EdgeScale, act Activation, opts ...Option) saga.Layer) func(o Options, in, out int, act Activation) saga.Layer {
	return func(o Options, in, out int, act Activation) saga.Layer {
		scale, _ := o.scale() // New has checked it
		return layer(in, out, scale, act, o.start()...)
	}
}

// attention builds models like the paper's gat: heads are concatenated, and averaged in the last layer.
func attention(layer func(in, width, heads int, mean bool, drop float32, act Activation, opts ...Option) saga.Layer) func(Options) []saga.Layer {
	width := func(o Options) int { return o.Heads * o.Hidden }
	return stacked(width, ops.ELU, func(o Options, k, _, in, out int, act Activation) []saga.Layer {
		if k == o.Layers-1 && o.Between.Jump == "" {
			return []saga.Layer{layer(in, out, o.OutHeads, true, o.AttentionDropout, act, o.start()...)}
		}
		return []saga.Layer{layer(in, o.Hidden, o.Heads, false, o.AttentionDropout, act, o.start()...)}
	})
}
