package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/layers"
	"sagann/saga"
)

// prepared says what was done to data and model before training. It is kept in
// checkpoints, so that predictions are made on data of the same kind.
type prepared struct {
	Data         string         `json:"data"`
	Undirected   bool           `json:"undirected"`
	Simple       bool           `json:"simple"`
	Target       string         `json:"target,omitempty"`     // vertex type of the labels, or the relation of links; "": the only one
	Split        string         `json:"split,omitempty"`      // --split, or byTime.String; the checkpoint has the seed
	SplitSeed    uint64         `json:"split_seed,omitempty"` // --split-seed; 0: the seed of the run
	Disjoint     float64        `json:"disjoint,omitempty"`   // of --task link
	OneHot       bool           `json:"one_hot"`
	Features     string         `json:"features,omitempty"` // what stands for the data's, or how they lie: identity, degree, sparse
	OfAll        bool           `json:"of_all,omitempty"`   // Features of all types of vertices, if there are several
	Embedding    int            `json:"embedding,omitempty"`
	Begins       string         `json:"embedding_init,omitempty"` // of learned rows; "": unit
	EMA          float32        `json:"ema,omitempty"`
	RowNormalize bool           `json:"row_normalize"`
	SelfLoops    bool           `json:"self_loops"`
	VirtualNode  bool           `json:"virtual_node,omitempty"`
	Layers       layers.Options `json:"layers"`
	Changes      []string       `json:"changes,omitempty"`     // what loading did, a random split among it
	ClassNames   []string       `json:"class_names,omitempty"` // of runs of versions without a schema
	Splits       *splitFacts    `json:"splits,omitempty"`      // nil: of links, or by an earlier version
}

// job is a run that is ready to begin.
type job struct {
	cfg    saga.Config
	data   *dataset.Data
	prep   prepared
	prog   *saga.Program
	note   string           // why the budget is what it is
	multi  bool             // labels are rows of 0 and 1
	metric metric           // that stands for a split
	file   *device.HostFile // nil, or what data.Features lies in
	told   []string         // changes that the store has recorded
	model  saga.Model
	begun  *layers.Weights // of --from; nil: none
	drawn  bool            // the split, or a part of it, depends on the seed
	apart  bool            // so do the parts themselves, and not only pairs without an edge
	normal bool            // feature rows are divided by their sums already
}

// prepare loads the data, builds the model and compiles it. Nothing is written.
func prepare(s *settings, log *slog.Logger) (*job, error) {
	j, err := load(s)
	if err == nil {
		err = j.plan(s, log)
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

// load checks the settings and loads the data.
func load(s *settings) (*job, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	j := &job{cfg: cfg, prep: prepared{Data: s.Data.Path, Undirected: s.Data.Undirected, Simple: s.Data.Simple, Target: cmp.Or(s.Data.Target, s.Link.Relation), Split: s.Data.Split, Splits: &splitFacts{Reverse: s.Link.Reverse}}}
	if j.data, err = s.open(); err != nil {
		return nil, err
	}
	j.prep.relation(j.data)
	if several := j.data.Vertices.Kinds != nil; several && s.Data.Features == "degree" {
		return nil, cli.Usagef("--features degree: %s has several types of vertices, with degrees in every relation", s.Data.Path)
	} else if several && s.Data.Features == "one-hot" {
		return nil, cli.Usagef("--features one-hot: %s has several types of vertices; --features identity learns a row for each", s.Data.Path)
	}
	if strings.HasSuffix(s.Data.Path, ".saga") {
		j.told = slices.Clone(j.data.Report.Changes)
	}
	if j.prep.VirtualNode = s.Data.VirtualNode && s.task(j.data) == saga.GraphTask; j.prep.VirtualNode {
		if err := dataset.VirtualVertices(j.data); err != nil {
			return nil, fmt.Errorf("--virtual-node: %w", err)
		}
	}
	if cfg.HostMem > 0 || j.data.Shard != nil || j.data.Late.Sparse != nil {
		debug.SetGCPercent(shardGC)
		debug.FreeOSMemory() // what reading took
	}
	return j, nil
}

// plan builds the model and compiles it for the data.
func (j *job) plan(s *settings, log *slog.Logger) error {
	task := s.task(j.data)
	if err := typedTask(j.data, task); err != nil {
		return err
	}
	if kinds := j.data.LabelKinds(); len(kinds) > 1 && task == kinds[0] && (s.Data.Task == "auto" || s.Data.Task == "") {
		log.Info("labels of " + task.Plural() + " are predicted (--task " + string(task) + "); there are also some of " + kinds[1].Plural() + " (--task " + string(kinds[1]) + ")")
	}
	if j.data.Targets.Given != nil && task != saga.LinkTask {
		log.Info("labels of " + task.Plural() + " are predicted; the data has also a split of links (--task link)")
	}
	if numbers(saga.LossKind(s.Training.Loss)) {
		if err := j.data.LabelsAsTargets(task); err != nil {
			return err
		}
	}
	if j.data.Shard != nil && task != saga.VertexTask {
		return cli.Usagef("--task %s: shards train labels of vertices; name the graph that they were made of", task)
	}
	if err := errors.Join(j.begin(s), j.likeRun(s, task, log)); err != nil {
		return err
	}
	if err := j.split(s, task, log); err != nil {
		return err
	}
	d := j.data
	e := allEdges(d)
	if err := errors.Join(s.weighsAll(d), s.numbered(e.DataCols > 0, s.Data.Path)); err != nil {
		return err
	}
	tellIdle(log, s.idle(task))
	if x, err := s.sampling(); err == nil && x != nil {
		tellUniform(log, d, x)
		tellNoPast(log, d, x)
	}
	if left := s.unread(e, d.Vertices.Kinds != nil); len(left) > 0 {
		log.Info("the model " + s.Model.Name + " leaves out what the edges have: " + strings.Join(left, ", "))
	}
	if err := j.prep.choose(s.Data.Features, s.Data.EmbeddingInit, d, task); err != nil {
		return err
	}
	if j.prep.OfAll = s.Data.Features == "identity" && d.Vertices.Kinds != nil; s.past.resumed {
		j.prep.OfAll = s.past.ofAll
	}
	if task == saga.GraphTask && j.prep.perVertex() {
		log.Warn("each vertex has a row of its own (--features " + s.Data.Features + "): rows of vertices in other graphs than those of training are never learned, so scores of validation and test say little; --features degree or data")
	}
	if s.Data.RowNormalize.Or(false) && j.prep.perVertex() {
		tellIdle(log, []string{"--row-normalize (of features of the data, which this run does not read)"})
	}
	j.prep.RowNormalize = s.Data.RowNormalize.Or(d.Report.Form == dataset.PlanetoidForm)
	if err := j.prep.onShards(d); err != nil {
		return err
	}
	if err := j.applied(log); err != nil {
		return err
	}
	w, err := j.wants(s, task)
	if err != nil {
		return err
	}
	err = j.build(s, j.cfg, w)
	var dense *saga.FeaturesError
	if errors.As(err, &dense) {
		err = j.dense(s, dense, w, log)
	}
	if err == nil {
		tellIdle(log, s.idlePlan(j.prog))
	}
	return err
}

// applied brings the data into the form that the run trains on.
func (j *job) applied(log *slog.Logger) error {
	how := j.prep
	how.RowNormalize = how.RowNormalize && !(j.normal && how.plain())
	return how.apply(j.data, log, leaves)
}

// split makes the splits that the data does not have, and checks labels and splits.
func (j *job) split(s *settings, task saga.Task, log *slog.Logger) error {
	d := j.data
	tellEdges(log, s.Data.Path, d, s.Data.Undirected)
	if task == saga.GraphTask {
		if i := dataset.Across(d); i >= 0 {
			u, v := d.Edges.Src[i], d.Edges.Dst[i]
			log.Warn(fmt.Sprintf("edge %d joins vertex %s of graph %d and vertex %s of graph %d: ends are numbers of vertices of all graphs together", i, d.ID(int(u)), d.GraphOf[u], d.ID(int(v)), d.GraphOf[v]))
		}
	}
	if own := d.Splits(task); task != saga.VertexTask && task != saga.LinkTask && d.Train != nil && own[0] == nil {
		log.Warn(fmt.Sprintf("the split of the data (train, val, test) is of vertices, and %s are predicted: arrays %s_train, %s_val and %s_test are a split of %s", task.Plural(), task, task, task, task.Plural()))
	}
	if err := j.divide(s, task, log); err != nil {
		return err
	}
	d = j.data
	if task == saga.EdgeTask && d.Shard == nil && !j.drawn {
		if n := dataset.EdgesApart(d); n > 0 {
			log.Warn(words.Text("%d {edge|edges} of validation or testing {joins two vertices that an edge of an earlier part of the split joins|join vertices that edges of earlier parts of the split join}, in one direction or the other: with the labels of those the scores are too high; --split 0.6,0.2 draws a split that keeps them together", n))
		}
	}
	for _, w := range d.Report.Warnings {
		log.Warn(w)
	}
	for _, c := range d.Report.Changes {
		if slices.Contains(j.told, c) {
			c = "when the store was made: " + c
		}
		log.Info(c)
	}
	j.prep.Changes = d.Report.Changes
	if task == saga.LinkTask {
		j.prep.Splits = factsOf(d, task)
		return j.waits(s, d.Targets.Links.Val.Len())
	}
	if err := dataset.ValidateLabels(d, task); err != nil {
		none := func(ids []uint32) bool { return ids == nil }
		if splits := d.Splits(task); d.Labelled(task) && !slices.ContainsFunc(splits[:], func(ids []uint32) bool { return !none(ids) }) {
			err = fmt.Errorf("%w: fewer than 5 labels are not divided unasked; --split 0.34,0.34 divides 3 or 4", err)
		} else if d.Labelled(task) && slices.ContainsFunc(splits[:], none) {
			err = fmt.Errorf("%w; --split 0.6,0.2 makes random ones", err)
		}
		if kinds := d.LabelKinds(); len(kinds) > 0 && !d.Labelled(task) {
			err = fmt.Errorf("%w; there are some of %s (--task %s)", err, kinds[0].Plural(), kinds[0])
		} else if !d.Labelled(task) {
			err = fmt.Errorf("%w: an edge list has none, tables have a column of them (saga data convert --help), arrays are called labels or y; --task link needs none", err)
		}
		return err
	}
	if err := j.waits(s, len(d.Splits(task)[1])); err != nil {
		return err
	}
	j.prep.Splits = factsOf(d, task)
	return nil
}

// waits refuses what looks at the loss of a validation split, where that has no members.
func (j *job) waits(s *settings, members int) error {
	if waits := s.Training.Patience > 0 || s.Rate.LRSchedule == string(saga.ScheduleReduce); waits && members == 0 {
		return fmt.Errorf("--patience and --lr-schedule plateau look at the loss of a validation split, and %s has none; --split 0.6,0.2 makes a random one", j.data.Name)
	}
	return nil
}

// tellEdges says that edges have no reverses, or only some have, and that edges are repeated, which are often not meant. It is silent on
// graphs that were generated and, about reverses, if they were added or if reading has said so.
func tellEdges(log *slog.Logger, path string, d *dataset.Data, undirected bool) {
	if _, generated := cli.SyntheticSpec(path); generated {
		return
	}
	said := slices.ContainsFunc(d.Report.Warnings, func(w string) bool { return strings.Contains(w, "--undirected") })
	look := dataset.LookAtEdges(d.Edges)
	if d.Labelled(dataset.EdgeLabels) { // which --undirected and --simple refuse
		if look.OneWay() && !undirected && !said {
			log.Warn(fmt.Sprintf("%s: edges are directed, as in the file, and of %d looked up none has its reverse: messages pass one way; where they should pass both ways, the file needs the reverses, whose label may be missing (-1, or NaN)", path, look.Looked))
		}
		return
	}
	switch some := words.Text("%s: of %d {edge|edges} looked up %d {has its|have their} reverse and the others have not; --undirected adds the missing ones", path, look.Looked, look.Reversed); {
	case undirected || said || look.Reversed == look.Looked:
	case look.OneWay():
		log.Warn(fmt.Sprintf("%s: edges are directed, as in the file, and of %d looked up none has its reverse; where the file lists each tie once, --undirected adds the reverses", path, look.Looked))
	case 10*look.Reversed >= 9*look.Looked:
		log.Warn(some)
	default:
		log.Info(some)
	}
	if look.Repeated > 0 {
		log.Info(words.Text("%s: of %d {edge|edges} looked up %d {stands|stand} in the graph more than once; saga data convert --simple keeps one of each, with the sum of the weights", path, look.Looked, look.Repeated))
	}
}

// leaves is what stops feature rows from being divided.
const leaves = "--row-normalize off leaves them"

// apply brings the features of d into the form that the model is trained on; why is said of what no flag asked for.
func (p *prepared) apply(d *dataset.Data, log *slog.Logger, why string) error {
	switch {
	case p.OneHot:
		if err := dataset.OneHotFeatures(d); err != nil {
			return fmt.Errorf("%w: --features embedding:64 learns rows, and features.npy in the data's folder gives them", err)
		}
		log.Info("each vertex gets a one-hot row", "columns", d.FeatureCols)
	case p.Features == "degree":
		log.Info("features are log(1 + in-degree) and log(1 + out-degree)")
		dataset.DegreeFeatures(d)
	case p.Features == "identity":
		log.Info("the identity stands for features: each vertex has a row of the first weights", "vertices", d.Edges.V)
	}
	if p.Features == "identity" || p.Embedding > 0 && d.Vertices.Kinds == nil { // of several types learned rows are those of types without features
		dataset.DropFeatures(d)
		if p.OfAll {
			d.Vertices.Kinds = d.Vertices.Kinds.Changed(dataset.DropFeatures)
		}
		return nil
	}
	if p.RowNormalize {
		log.Info("feature rows are divided by their sums (" + why + ")")
		dataset.RowNormalize(d)
	}
	return nil
}

// streams tells whether the run is one of the built-in graph that gets so little memory
// that chunks must stream.
func (s *settings) streams() bool {
	return s.Training.Sampling.whole() && s.Data.Path == builtin && s.Memory.Mem == 0 && s.Planning.Chunks == 0 && s.Planning.Machine == ""
}

// builtin is the graph that is trained on where none is named.
const builtin = "synthetic"

// shareOfPeak is the part of what a resident run takes that the built-in graph gets.
const shareOfPeak = 3

// compile plans m on the data. With stream the budget is a part of what keeping
// everything resident takes, and there are at least four intervals: the built-in
// graph is small, but trains as a graph does that does not fit.
func (j *job) compile(m saga.Model, cfg saga.Config, stream bool) (err error) {
	first := cfg
	if stream { // only to learn what it takes
		first.HostMem = 0
	}
	if j.prog, err = saga.Compile(m, j.data, first); err != nil || !stream {
		return err
	}
	whole, aside := j.prog.Summary().Peak, j.prog.Summary().Aside
	cfg.Mem, cfg.MinChunks = whole/shareOfPeak+aside, 4
	why := fmt.Sprintf("a third of the %s that keeping everything there takes", cli.SizeText(whole))
	p, err := saga.Compile(m, j.data, cfg)
	var small *plan.BudgetError
	if errors.As(err, &small) {
		cfg.Mem = small.Smallest
		why = fmt.Sprintf("the least that will do; keeping everything there takes %s", cli.SizeText(whole))
		p, err = saga.Compile(m, j.data, cfg)
	}
	if aside > 0 {
		why += fmt.Sprintf(", and %s that the device takes beside it", cli.SizeText(aside))
	}
	if err != nil {
		return fmt.Errorf("the built-in budget of %s: %w", cli.SizeText(cfg.Mem), err)
	}
	j.prog = p
	j.note = fmt.Sprintf("budget    %s of device memory: %s, so that the built-in graph streams as one that does not fit (--mem SIZE sets another)", cli.SizeText(cfg.Mem), why)
	return nil
}

// unload moves the features of the data into a file, too, when host memory is so short
// that other things lie in files: training needs them again only when it is opened, in
// another order.
func (j *job) unload(scratch string, log *slog.Logger) error {
	d := j.data
	n := 4 * int64(len(d.Features))
	if j.prog.Summary().Disk == 0 || n == 0 {
		return nil
	}
	f, err := device.NewHostFile(scratch, n)
	if err != nil {
		return fmt.Errorf("the features of the data: %w", err)
	}
	const part = 1 << 20
	rows := device.View[float32](f.Bytes())
	for lo := 0; lo < len(rows); lo += part {
		hi := min(len(rows), lo+part)
		copy(rows[lo:hi], d.Features[lo:hi])
		device.Drop(f.Bytes()[4*lo : 4*hi])
	}
	j.file, d.Features = f, rows
	debug.FreeOSMemory()
	log.Info("the features of the data lie in a file, too", "size", cli.SizeText(n))
	return nil
}

// skew is the largest in-degree and its mean.
func skew(e *chunk.Edges) (most uint32, mean float64) {
	for _, n := range e.InDegrees() {
		most = max(most, n)
	}
	if e.V > 0 {
		mean = float64(e.E()) / float64(e.V)
	}
	return most, mean
}
