package layers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sagann/saga"
)

// Options of New.
type Options struct {
	Features int // columns of the data's features
	Hidden   int // columns between layers; for gat, gatv2, transformer, hgt and han of each head
	Classes  int // columns of the logits
	Layers   int // number of layers; ignored by ggnn (Steps between two linear layers), sgc and lg (Steps)
	Steps    int // ggnn: message steps of one set of weights; sgc, appnp, lg: propagation steps; tag, cheb: those of a layer; 0: 2
	Heads    int // gat, gatv2, transformer: heads of all layers but the last; hgt, han: of all; 0: 8
	OutHeads int // gat, gatv2, transformer: heads of the last layer, of which the mean is taken; 0: 1

	Dropout          float32 // on the input of every layer, in training
	AttentionDropout float32 // gat, gatv2, transformer: on the attention coefficients, in training

	Task    saga.Task    // what has labels; default: vertices
	Readout saga.Readout // graph labels: sum, mean (default) or max over a graph's vertices

	Between Between
	Alpha   float32 // appnp, gcn2: share of the own prediction, or of the first rows, in every step; 0: 0.1, saga.None: 0

	LinkHead saga.LinkHead // links: scores two rows of Classes columns; default: saga.LinkDot
	Loss     saga.Loss     // default: cross-entropy of classes

	Normalize string // gcn, sgc, appnp and others (Reading): NormSym (default; graphconv: NormNone), NormSymWeight, NormWeight, NormNone
	EdgeData  int    // edgemlp: columns of the edge data; 0: as many as the graph has
	EdgeTypes int    // ggnn: edge types with their own weights; 0: as many as the graph has

	Own Own // what single models read

	Bias bool   // gcn, gat, gatv2: WithBias; other models have the biases of their formulas
	Init string // initialisation of parameters: InitGlorot (default), InitPyG
}

// Own are options that single models read.
type Own struct {
	Delta         float32 // pna: the mean of log(d+1) over the vertices of the training graph (LogDegree); 0: 1
	Theta         float32 // gcn2: how fast the identity mapping takes over; 0: 0.5
	Bases, Blocks int     // rgcn: bases of which weights of relations are sums, or blocks on their diagonals; 0: neither
	Edges         string  // gat, gatv2, transformer, gine, gen, cg: EdgesOn or EdgesOff; default: gat and gatv2 leave the numbers of edges out
}

// Values of Own.Edges.
const (
	EdgesOn  = "on"  // WithEdges
	EdgesOff = "off" // WithoutEdges
)

// Initialisations of parameters.
const (
	InitGlorot = "glorot" // weights by saga.Glorot, biases zero
	InitPyG    = "pyg"    // see PyGInit
)

// start is the layer options that follow from o.
func (o *Options) start() (opts []Option) {
	if o.Bias {
		opts = append(opts, WithBias)
	}
	if o.Init == InitPyG {
		opts = append(opts, PyGInit)
	}
	switch o.Own.Edges {
	case EdgesOn:
		opts = append(opts, WithEdges)
	case EdgesOff:
		opts = append(opts, WithoutEdges)
	}
	return opts
}

// The largest values of options. They are far more than models have, but small enough that sizes do not
// overflow, and that a mistyped number is an error at once.
const (
	maxHidden = 1 << 16
	maxLayers = 1 << 10
	maxHeads  = 1 << 10
	maxBases  = 1 << 10
)

// Names lists the models that New knows, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(builders)) }

// Reading lists the models that read an option, such as ReadsHeads, in alphabetical order.
func Reading(option string) []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return !slices.Contains(builders[name].reads, option) })
}

// Looped lists the models that add self loops, in alphabetical order.
func Looped() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return !builders[name].selfLoops })
}

// summed are the models whose layers sum the messages of all relations of a graph that has several, and then compute the new rows. The
// layers of the others run once for each relation (saga.Layer.PerRelation).
var summed = map[string]bool{"rgcn": true, "hgt": true, "han": true}

// New is the model with the given name. The last layer has no activation; the others have ReLU, in gat and
// gatv2 ELU, in ggnn none. The models that Looped lists add self loops, the others use the graph as it
// is; to change that, set SelfLoops of the result. Over a graph of several vertex types and relations
// each layer runs once for each relation, and the results into a type of vertices are summed; those of rgcn, hgt and han take the messages of all relations. For labels of graphs or edges the
// last layer has Hidden columns with ReLU, and GraphHead or EdgeHead computes the logits. An
// unknown name is an error, and so is an option outside its range.
func New(name string, o Options) (saga.Model, error) {
	model, ok := builders[name]
	if !ok {
		return saga.Model{}, fmt.Errorf("layers: unknown model %q; there are %s", name, strings.Join(Names(), ", "))
	}
	o.Steps, o.Heads, o.OutHeads = cmp.Or(o.Steps, 2), cmp.Or(o.Heads, 8), cmp.Or(o.OutHeads, 1)
	if err := o.check(); err != nil {
		return saga.Model{}, fmt.Errorf("layers: model %s: %w", name, err)
	}
	body := o
	if o.headed() {
		body.Classes = o.Hidden
	}
	if _, err := o.scale(); err != nil && slices.Contains(model.reads, ReadsNormalize) {
		return saga.Model{}, fmt.Errorf("layers: model %s: %w", name, err)
	}
	l := model.build(body)
	for i := range l {
		l[i].PerRelation = l[i].ApplyEdge != nil && !summed[name]
		if !hops[l[i].Name] { // dropout is applied to the input of learned layers only
			l[i].Dropout = o.Dropout
		}
	}
	m := saga.Model{Name: name, Layers: l, SelfLoops: model.selfLoops, OneLoop: o.Normalize == NormSymWeight, Loss: o.Loss}
	m.MeanLoops = o.Own.Edges == EdgesOn
	o.addHead(&m)
	return m, nil
}

// check lists all options that are out of range.
func (o *Options) check() error {
	var errs []error
	least := func(what string, x, min int) {
		if x < min {
			errs = append(errs, fmt.Errorf("%s %d; at least %d", what, x, min))
		}
	}
	least("features", o.Features, 1)
	between := func(what string, x, min, max int) {
		if least(what, x, min); x > max {
			errs = append(errs, fmt.Errorf("%s %d; at most %d", what, x, max))
		}
	}
	between("hidden", o.Hidden, 1, maxHidden)
	least("classes", o.Classes, 1)
	between("layers", o.Layers, 1, maxLayers)
	between("steps", o.Steps, 1, maxLayers)
	between("heads", o.Heads, 1, maxHeads)
	between("heads of the last layer", o.OutHeads, 1, maxHeads)
	least("edge data columns", o.EdgeData, 0)
	least("edge types", o.EdgeTypes, 0)
	if !slices.Contains([]saga.Task{"", saga.VertexTask, saga.EdgeTask, saga.GraphTask, saga.LinkTask}, o.Task) {
		errs = append(errs, fmt.Errorf("unknown task %q; there are vertex, edge, graph, link", o.Task))
	}
	if !slices.Contains([]saga.Readout{"", saga.ReadoutSum, saga.ReadoutMean, saga.ReadoutMax}, o.Readout) {
		errs = append(errs, fmt.Errorf("unknown readout %q; there are sum, mean, max", o.Readout))
	}
	if !slices.Contains([]string{"", InitGlorot, InitPyG}, o.Init) {
		errs = append(errs, fmt.Errorf("unknown start %q of parameters; there are %s, %s", o.Init, InitGlorot, InitPyG))
	}
	if !slices.Contains([]string{"", EdgesOn, EdgesOff}, o.Own.Edges) {
		errs = append(errs, fmt.Errorf("numbers of edges %q; there are %s, %s", o.Own.Edges, EdgesOn, EdgesOff))
	}
	between("bases", o.Own.Bases, 0, maxBases)
	if between("blocks", o.Own.Blocks, 0, maxHidden); o.Own.Bases > 0 && o.Own.Blocks > 0 {
		errs = append(errs, fmt.Errorf("%d bases and %d blocks; weights have one of them", o.Own.Bases, o.Own.Blocks))
	}
	for what, x := range map[string]float32{"delta": o.Own.Delta, "theta": o.Own.Theta} {
		if !(x >= 0) || math.IsInf(float64(x), 0) {
			errs = append(errs, fmt.Errorf("%s %v; a finite number above 0", what, x))
		}
	}
	for _, p := range []float32{o.Dropout, o.AttentionDropout} {
		if !(p >= 0 && p < 1) {
			errs = append(errs, fmt.Errorf("dropout %v; from 0 to below 1", p))
		}
	}
	if !(o.Alpha >= 0 && o.Alpha < 1 || o.Alpha == saga.None) {
		errs = append(errs, fmt.Errorf("alpha %v; from 0 to below 1", o.Alpha))
	}
	return errors.Join(append(errs, o.Between.check()...)...)
}
