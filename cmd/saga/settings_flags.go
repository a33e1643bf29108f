package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/alecthomas/kong"

	"sagann/dataset"
	"sagann/layers"
	"sagann/net"
	"sagann/saga"
)

// settings are the flags that a run is made of, and what config.json keeps of it
// under the flags' names.
type settings struct {
	Data     dataFlags     `embed:"" group:"data"`
	Model    modelFlags    `embed:"" group:"model"`
	Link     linkFlags     `embed:"" group:"model"`
	Training trainingFlags `embed:"" group:"training"`
	Rate     rateFlags     `embed:"" group:"training"`
	Memory   memoryFlags   `embed:"" group:"memory"`
	Planning planFlags     `embed:"" group:"planning"`

	Config configFlag `placeholder:"FILE" group:"run" help:"Take settings from a run, its folder or config.json, or from an object of flags and their values; flags of the command line win."`

	net  *net.Group // the ranks of the run; nil: one
	past past
}

// past is what a run takes over from one before it.
type past struct {
	outcome saga.Outcome // of a run that goes on, but for Planning.Slices
	resumed bool         // a run goes on
	ofAll   bool         // prepared.OfAll of a run that goes on
	delta   float32      // of pna: of --from, or of a run that goes on; 0: that of the data

	schema *dataset.Schema // of the data of the run that --from names; nil: it names none
	data   bool            // its features were the data's
}

// dataFlags say which graph is trained on, and on which labels.
type dataFlags struct {
	Path          string `json:"data" name:"data" default:"synthetic" placeholder:"PATH" help:"A folder or file (saga data --help lists formats; tables go through saga data convert), karate, or synthetic[:vertices=..,edges=..,features=..,classes=..,seed=..,copies=..,skew=..] (${default})."`
	Undirected    bool   `json:"undirected" help:"Add the reverse of every edge that has none."`
	Simple        bool   `json:"simple" help:"Drop self loops and repeated edges."`
	Split         string `json:"split" placeholder:"TRAIN,VAL|DIR" help:"Replace the splits by random ones, by their shares: 0.6,0.2; or by those in a folder, train.csv, val.csv and test.csv, as saga export --split writes them."`
	SplitTime     string `json:"split-time" name:"split-time" placeholder:"T,T|P%,P%" help:"Replace the splits by time: validation is from the first time on, testing from the second (numbers or days, 2026-01-01,2026-02-01); or so much of the earliest is for training and validation: 80%,10%. Of links with --sample-time that is the default."`
	SplitSeed     auto   `json:"split-seed" default:"auto" placeholder:"N" help:"Seed of splits that are drawn, and of the pairs that --task link is evaluated on; auto: --seed."`
	Task          string `json:"task" default:"auto" placeholder:"WHAT" help:"What is predicted, classes or numbers: of each vertex, edge or graph, or auto (graph where graphs have labels or numbers, else vertex, else edge); link predicts which edges there are (docs/tasks.md)."`
	Target        string `json:"target" placeholder:"TYPE" help:"Of a graph with several types of vertices: the type whose labels are trained; default: the only one that has labels."`
	Features      string `json:"features" default:"auto" placeholder:"WHAT" help:"What vertices begin with: data, sparse (as sparse rows), identity (a weight row each, never V times V), embedding:64 (learned rows of 64 columns; of several types for those without features), degree, one-hot (the identity, dense), or auto (data; where there are none identity, with --task graph degree)."`
	EmbeddingInit string `json:"embedding-init" default:"unit" enum:"unit,normal" placeholder:"NAME" help:"What the rows of --features embedding:64 are drawn from at first: unit (squared length 1 on average) or normal (variance 1 a number, as in PyTorch's nn.Embedding) (${default})."`
	VirtualNode   bool   `json:"virtual-node" help:"With --task graph: add a vertex to every graph, with edges to and from all others of it."`
	RowNormalize  toggle `json:"row-normalize" default:"auto" placeholder:"B" help:"Divide each feature row by the sum of its absolute values: on, off, or auto (on for Planetoid folders, whose features count words)."`

	older bool // a run that goes on, of a version that kept no schema, and read TU folders otherwise
	sizes bool // only a plan is made, for which the numbers of features are not read
}

// modelFlags choose the model and its options.
type modelFlags struct {
	Name      string       `json:"model" name:"model" type:"lowercase" default:"auto" placeholder:"NAME" help:"One of ${models} (docs/models.md has their formulas), or auto (gcn; ggcn on the built-in graph and on --shape)."`
	Hidden    count        `json:"hidden" default:"32" placeholder:"N" help:"Columns between layers (${default})."`
	Layers    count        `json:"layers" default:"2" placeholder:"N" help:"Number of layers (${default})."`
	Steps     count        `json:"steps" default:"2" placeholder:"N" help:"Message steps of ${with_steps} (${default})."`
	Heads     count        `json:"heads" default:"8" placeholder:"N" help:"Attention heads of ${with_heads} (${default})."`
	Dropout   float32      `json:"dropout" default:"0" placeholder:"P" help:"Dropout on the input of every layer (${default})."`
	Normalize string       `json:"normalize" placeholder:"M" help:"Factors of the edges of ${with_normalize}: sym (1/√(d_u·d_v) by degrees d, the default), sym-weight (the same of the edges' weights, w/√(d_u·d_v) by sums d of weights), weight (w as it is) or none (1)."`
	Between   betweenFlags `embed:"" json:"-"`

	Alpha     float32 `json:"alpha" default:"0.1" placeholder:"X" help:"Share of the own prediction, or of the first rows, in every step of ${with_alpha} (${default})."`
	Theta     float32 `json:"theta" default:"0.5" placeholder:"X" help:"How fast the identity mapping of ${with_theta} takes over (${default})."`
	Bases     count   `json:"bases" default:"0" placeholder:"N" help:"Bases of the weights of relations in ${with_bases}, which are sums of them; 0: weights of their own (${default})."`
	Blocks    count   `json:"blocks" default:"0" placeholder:"N" help:"Blocks on the diagonals of the weights of relations in ${with_bases}; 0: whole weights (${default})."`
	EdgeData  toggle  `json:"edge-data" default:"auto" placeholder:"B" help:"Read the numbers of edges, in ${with_edge_data}: on, off, or auto (where there are some, but not in gat and gatv2)."`
	Readout   string  `json:"readout" default:"mean" placeholder:"NAME" help:"What is made of the rows of a graph's vertices with --task graph: sum, mean or max (${default})."`
	Bias      toggle  `json:"bias" default:"auto" placeholder:"B" help:"A bias after the sums of ${with_bias}: on, off, or auto (on)."`
	Init      string  `json:"init" default:"pyg" placeholder:"NAME" help:"What parameters are drawn from at first: pyg (as PyTorch Geometric's layers, where it has them) or glorot (weights by Glorot's rule, biases zero) (${default})."`
	SelfLoops toggle  `json:"self-loops" default:"auto" placeholder:"B" help:"Add self loops: on, off, or auto (on for ${with_loops})."`
}

// betweenFlags say what is done between layers, and before the first.
type betweenFlags struct {
	Activation string `json:"activation" default:"auto" placeholder:"NAME" help:"Between layers: ${activations}, or auto (relu; elu for ${with_heads}, but none for hgt and han)."`
	Norm       string `json:"norm" default:"none" placeholder:"NAME" help:"Of the rows between layers: layer (each row), batch (each column over all vertices) or none (${default})."`
	Residual   bool   `json:"residual" help:"Add what enters a layer, but the last, to what it gives."`
	Jump       string `json:"jk" name:"jk" default:"none" placeholder:"NAME" help:"Jumping knowledge: logits of the rows of all layers, joined by ${jumps}, or of the last alone: none (${default})."`
	Project    bool   `json:"project" help:"Begin with a linear layer to as many columns as hidden layers have; over several types of vertices with one for each type, whose features may then differ in width. (${without_project} begin with one anyway.)"`
}

// trainingFlags are the numbers of training.
type trainingFlags struct {
	Epochs       count   `json:"epochs" default:"60" placeholder:"N" help:"Epochs (${default})."`
	LR           float32 `json:"lr" name:"lr" default:"0.01" placeholder:"X" help:"Learning rate (${default})."`
	LRDecay      float32 `json:"lr-decay" name:"lr-decay" default:"1" placeholder:"X" help:"Factor on the learning rate every --lr-decay-every epochs."`
	LRDecayEvery count   `json:"lr-decay-every" name:"lr-decay-every" default:"0" placeholder:"N" help:"Epochs between two decays of the learning rate; 0: never."`
	WeightDecay  float32 `json:"weight-decay" default:"0" placeholder:"X" help:"Weight decay, on what --decay says (${default})."`
	Decay        string  `json:"decay" default:"first" enum:"first,all" placeholder:"WHAT" help:"What --weight-decay acts on: the first layer, or all parameters, as PyTorch's optimisers do: first or all (${default})."`
	Optimizer    string  `json:"optimizer" default:"adam" placeholder:"NAME" help:"adam, adamw or sgd (${default})."`
	Momentum     float32 `json:"momentum" default:"0" placeholder:"X" help:"Momentum of sgd (${default})."`
	ClipNorm     float32 `json:"clip-norm" default:"0" placeholder:"X" help:"Largest 2-norm of all gradients; 0: any."`
	EvalEvery    count   `json:"eval-every" default:"1" placeholder:"N" help:"Epochs between two evaluations (${default}); on a large graph 5, say, or see --eval-sample."`
	Patience     count   `json:"patience" default:"0" placeholder:"N" help:"Stop after N evaluations without a lower validation loss and keep the best parameters; 0: never."`
	Loss         string  `json:"loss" default:"auto" placeholder:"NAME" help:"cross-entropy of classes; mse, mae or huber of numbers; auto (mse where the data has targets and no labels)."`
	HuberDelta   float32 `json:"huber-delta" default:"1" placeholder:"X" help:"Where huber turns from squares to absolute errors (${default})."`
	ClassWeights string  `json:"class-weights" placeholder:"LIST" help:"Weights of the classes in training, with commas between, or balanced."`
	PosWeights   string  `json:"pos-weights" placeholder:"LIST" help:"Weights of the ones of each class of multi-label data, with commas between, or balanced."`
	EMA          float32 `json:"ema" name:"ema" default:"0" placeholder:"X" help:"Evaluate and predict with averages of the parameters, which every update moves by 1-X: 0.99, say; 0: with the parameters (${default})."`
	From         string  `json:"from" name:"from" placeholder:"FILE" help:"Begin with weights: a run or its checkpoint, or a state_dict of PyTorch Geometric's layers (.pt, .safetensors; docs/models.md)."`
	Freeze       string  `json:"freeze" placeholder:"NAMES" help:"Parameters that stay as they are, with commas between: layer1, or layer2.W."`
	Seed         count   `json:"seed" default:"1" placeholder:"N" help:"Seed of parameters, dropout, the batches of --sample and --sampler, the pairs that --task link trains on, and of splits that are drawn (${default})."`

	Sampling samplingFlags `embed:"" json:"-"`
}

// samplingFlags say which batches training goes over.
type samplingFlags struct {
	Sample     samples `json:"sample" sep:"none" placeholder:"[NAME=]K,K,.." help:"Train on sampled neighbours in batches: how many in-edges of a vertex each layer draws, the last layer's first, such as 15,10,5 (-1: all); evaluation is on the whole graph, or by --eval-sample. Of several relations these are for each; NAME=K,K,.. is for relation NAME, or SOURCE:NAME:TARGET, where K may be 0, or for a sampler as NAME=weighted:15,10. Default: train on the whole graph."`
	Sampler    string  `json:"sampler" placeholder:"NAME:K,.." help:"Train in batches that another sampler draws, such as weighted:15,10, ladies:512,512, cluster:20x1500, saint:1000x2 or shadow:2x10; see docs/sampling.md."`
	SampleNorm string  `json:"sample-norm" default:"none" placeholder:"NAME" enum:"none,full" help:"What sums over --sample add up: none leaves the messages drawn as they are, full counts each in-degree over draws times (${default})."`
	SampleTime string  `json:"sample-time" name:"sample-time" default:"none" enum:"none,uniform,latest" placeholder:"NAME" help:"With --sample and times of edges and vertices: a vertex sees only edges up to its time, at any depth, in evaluation, too; uniform draws among them, latest takes the latest, none looks at no times (${default})."`
	EvalSample string  `json:"eval-sample" placeholder:"K,K,.." help:"Evaluate on sampled neighbours, too, the same ones every time: how many each layer draws, as --sample has it. Default: on the whole graph."`
	Batch      count   `json:"batch" default:"1024" placeholder:"N" help:"Training vertices of a batch with --sample or --sampler, or edges, links or graphs of such a task (${default})."`
	Accumulate count   `json:"accumulate" default:"0" placeholder:"N" help:"Batches an update has with --sample or --sampler, dealt to the devices of --device; no bit depends on how many these are. 0: as many as there are devices (${default})."`
}

// rateFlags say how the learning rate goes on from --lr.
type rateFlags struct {
	LRSchedule string  `json:"lr-schedule" name:"lr-schedule" default:"none" placeholder:"NAME" help:"cosine (to --lr-min at the last epoch), plateau (lower when the validation loss stays) or none (${default})."`
	WarmUp     count   `json:"warm-up" default:"0" placeholder:"N" help:"Epochs in which the learning rate rises to --lr (${default})."`
	LRMin      float32 `json:"lr-min" name:"lr-min" default:"0" placeholder:"X" help:"Lowest learning rate of --lr-schedule (${default})."`
	LRFactor   float32 `json:"lr-factor" name:"lr-factor" default:"0.1" placeholder:"X" help:"What plateau multiplies the learning rate by (${default})."`
	LRPatience count   `json:"lr-patience" name:"lr-patience" default:"10" placeholder:"N" help:"Evaluations without a lower validation loss that plateau waits for (${default})."`
	LREpochs   count   `json:"lr-epochs" name:"lr-epochs" default:"0" placeholder:"N" help:"Epochs that cosine takes, with those of --warm-up; 0: --epochs."`
}

// memoryFlags say where a run computes and how much memory it may use.
type memoryFlags struct {
	Device  string  `json:"device" default:"cpu" placeholder:"NAME" help:"cpu, cpu:4 for four devices that share the host, or in a build for NVIDIA GPUs cuda, cuda:1, cuda:0,1 for two, cuda:0,0 for two that share one (${default})."`
	Mem     memory  `json:"mem" default:"auto" placeholder:"SIZE" help:"Device memory that the run may use, such as 8GiB, on each device; what does not fit is streamed from the host in chunks. auto: no bound, on GPUs what is free on the card; the built-in graph gets a third of what it takes, so that it streams."`
	Cache   float64 `json:"cache" default:"0" placeholder:"X" help:"With --sample on a GPU, the share of feature rows that stay there, those that batches take most often; the others are read from the host while a batch is at work. 0: all, or as many as there is memory for; --cache=-1: none (${default})."`
	HostMem memory  `json:"host-mem" name:"host-mem" default:"auto" placeholder:"SIZE" help:"Host memory that the run may use beside the data set; what does not fit lies in files in --scratch. auto: no bound."`
	Scratch string  `json:"-" placeholder:"DIR" help:"Folder on a disk for those files, which have no names and are gone when the run ends, however it ends, and for a checkpoint that finds the disk full. Default: where the run folder is (saga plan: the system's folder for temporary files)."`
	Ring    toggle  `json:"ring" default:"auto" placeholder:"B" help:"Several devices pass chunks to each other in a ring: on, off (each loads all of them from the host) or auto (on)."`
	TF32    bool    `json:"tf32" name:"tf32" help:"On a GPU, round the operands of dense products to TF32 (10 bits of fraction): faster, and less exact."`
}

// planFlags say how a graph is streamed; what is auto is chosen.
type planFlags struct {
	Machine  string   `json:"machine" placeholder:"NAME|FILE" help:"Choose the plan by simulating it on this machine: one of ${machines}, or a file that saga topo --measure wrote. --mem then includes what the machine keeps for itself. Default: for cuda this card, as saga topo --measure or the first run on it has measured it, or the nearest of h100, h200, a100 and h200x4; for cpu none, and the fewest chunks that fit are taken."`
	Chunks   auto     `json:"chunks" default:"auto" placeholder:"P" help:"Divide the vertices into P intervals, and so the edges into P×P chunks; auto: the fewest that fit."`
	Schedule string   `json:"schedule" default:"auto" placeholder:"NAME" help:"Order in which chunks are visited: sag, stage, dest-order or auto (sag; with --machine the fastest)."`
	Save     string   `json:"save" default:"auto" placeholder:"WHAT" help:"What the forward pass stores for the backward pass: all, none (it is computed again where it can be), some (element-wise values are computed again) or auto (the fastest by simulation)."`
	Storage  string   `json:"storage" default:"f32" placeholder:"TYPE" help:"Type of the rows that edges gather in training: f32 or bf16, which halves what is moved of them; sums are f32 (${default})."`
	Slices   auto     `json:"slices" default:"auto" placeholder:"K" help:"Gather the columns of a row in K parts, each in a pass of its own over the edges; auto: 1, with a machine the fastest by simulation."`
	Prefetch count    `json:"prefetch" default:"0" placeholder:"N" help:"Chunks loaded ahead; 0: 2 where they fit, and more where memory is left."`
	Without  []string `json:"without" placeholder:"PASS" help:"Compiler passes to leave out, for measuring: stream, hoist, commute, factor, invariant, fuse and others; an unknown name prints the list."`
	Paper    bool     `json:"paper" help:"Leave out everything that the NGra paper does not do, for measuring."`
	found    string   // the machine model where Machine names none; "": the usual one of the device
}

// flagGroups are the titles under which help lists flags.
var flagGroups = []kong.Group{
	{Key: "data", Title: "Data: the graph and its labels"},
	{Key: "model", Title: "Model"},
	{Key: "training", Title: "Training"},
	{Key: "memory", Title: "Devices and memory"},
	{Key: "planning", Title: "Plan: how the graph is streamed, and what the compiler may do (chosen by itself; no run needs these)"},
	{Key: "run", Title: "The run and its folder"},
	{Key: "options", Title: "Options"},
	{Key: "walks", Title: "Vectors from walks (--walks)"},
	{Key: "hops", Title: "Rows from sampled in-edges (--children)"},
	{Key: "output", Title: "Output"},
	{Key: "bench", Title: "Benchmarks of the engine, the NGra paper's tables among them (no training needs these)"},
}

// groups are the parts of s, in the order of config.json.
func (s *settings) groups() []any {
	return []any{&s.Data, &s.Model, &s.Model.Between, &s.Link, &s.Training, &s.Training.Sampling, &s.Rate, &s.Memory, &s.Planning}
}

// savedSettings are settings as config.json has them: one flat object, for it knows flags and
// not their groups. (kong would take a struct of flags with these methods for a value.)
type savedSettings settings

// MarshalJSON writes the flags of all groups.
func (s savedSettings) MarshalJSON() ([]byte, error) {
	var parts [][]byte
	for _, g := range (*settings)(&s).groups() {
		text, err := json.Marshal(g)
		if err != nil {
			return nil, err
		}
		parts = append(parts, text[1:len(text)-1])
	}
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}")), nil
}

// unrecorded is what runs of versions without these flags did, where it is not their default.
const unrecorded = `{"bias": "off", "init": "` + layers.InitGlorot + `"}`

// kept is a flag that versions record which keep a 0 as a 0.
const kept = "decay"

// replaced are the values with which versions before that ran where they recorded 0.
var replaced = map[string]string{"alpha": "0.1", "lr-factor": "0.1", "lr-patience": "10", "huber-delta": "1", "lr-decay": "1", "eval-every": "1"}

// UnmarshalJSON reads what MarshalJSON writes, and what versions before it wrote.
func (s *savedSettings) UnmarshalJSON(text []byte) error {
	text, err := asRun(text)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(unrecorded), &s.Model); err != nil {
		return err
	}
	for _, g := range (*settings)(s).groups() {
		if err := json.Unmarshal(text, g); err != nil {
			return err
		}
	}
	return nil
}

// asRun is recorded settings with the values that they ran with, where a version took 0 for something else.
func asRun(text []byte) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil || m[kept] != nil {
		return text, err
	}
	if m == nil {
		return nil, errors.New("there are no settings")
	}
	for name, ran := range replaced {
		if x := string(m[name]); x == "" || x == "0" {
			m[name] = json.RawMessage(ran)
		}
	}
	m[kept] = json.RawMessage(`"first"`)
	return json.Marshal(m)
}
