package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// choose settles what d's vertices begin with, by --features; "" is that of runs that had no such flag. Without
// features vertices of graphs begin with their degrees: a row for each vertex learns nothing of another graph's.
// Learned rows begin as --embedding-init has it.
func (p *prepared) choose(features, init string, d *dataset.Data, task saga.Task) error {
	kind, cols, _ := strings.Cut(features, ":")
	switch {
	case features == "" || features == "one-hot":
		p.OneHot = features == "one-hot" || d.FeatureCols == 0
	case features == "auto" && d.FeatureCols == 0 && task == saga.GraphTask:
		p.Features = "degree"
	case features == "auto" && d.FeatureCols == 0:
		p.Features = "identity"
	case features == "data" && d.FeatureCols == 0:
		return cli.Usagef("--features data: %s has none; identity, embedding:64 or degree", d.Name)
	case (features == "auto" || features == "sparse") && d.Late.Sparse != nil:
		p.Features = "sparse"
	case features == "auto" || features == "data":
	case features == "identity" || features == "degree":
		p.Features = features
	case kind == "embedding":
		n, err := strconv.Atoi(cols)
		if err != nil || n < 1 || n > maxEmbedding {
			return cli.Usagef("--features %s: the number of columns is from 1 to %d, as in embedding:64", features, maxEmbedding)
		}
		p.Embedding, p.Begins = n, named(init, string(saga.EmbeddingUnit))
	default:
		return cli.Usagef("--features %s: there are data, sparse, identity, embedding:64, degree, one-hot, auto", features)
	}
	return nil
}

// perVertex reports whether each vertex has a row that is learned for it alone.
func (p *prepared) perVertex() bool { return p.OneHot || p.Features == "identity" || p.Embedding > 0 }

// plain reports whether features are those of the data.
func (p *prepared) plain() bool {
	return !p.OneHot && p.Embedding == 0 && (p.Features == "" || p.Features == "sparse")
}

// maxEmbedding is as wide as the widest layer (package layers).
const maxEmbedding = 1 << 16

// columns is how many numbers a vertex of d begins with.
func (p *prepared) columns(d *dataset.Data) int {
	switch {
	case p.Embedding > 0 && (d.Vertices.Kinds == nil || d.FeatureCols == 0):
		return p.Embedding
	case p.Features == "identity":
		return d.Edges.V
	}
	return d.FeatureCols
}

// model is the model NAME for what p says.
func (p *prepared) model(name string) (saga.Model, error) {
	m, err := layers.New(name, p.Layers)
	m.Embedding, m.EmbeddingInit, m.Average = p.Embedding, saga.EmbeddingInit(p.Begins), p.EMA
	return m, err
}

// fits refuses data whose vertices begin with another number of columns than those trained on.
func (p *prepared) fits(d *dataset.Data, name, path string) error {
	n := p.columns(d)
	switch {
	case n == p.Layers.Features:
		return nil
	case p.Features == "identity":
		return fmt.Errorf("%s has %d vertices; the model in %s was trained on %d and has a row for each", name, n, path, p.Layers.Features)
	}
	return fmt.Errorf("%s has %d features a vertex; the model in %s was trained on %d", name, n, path, p.Layers.Features)
}

// largeDense is the size of dense features from which on those that files hold as sparse matrices stay sparse.
const largeDense = 256 << 20

// sparseFrom is dataset.Options.SparseFrom for --features.
func sparseFrom(features string) int64 {
	switch features {
	case "sparse":
		return 1
	case "auto":
		return largeDense
	}
	return 0
}

// sparseFrom is dataset.Options.SparseFrom for data like those trained on.
func (p *prepared) sparseFrom() int64 {
	if p.Features == "sparse" {
		return 1
	}
	return 0
}

// onShards refuses what stands for features, or changes them, where no process has all of d.
func (p *prepared) onShards(d *dataset.Data) error {
	switch {
	case d.Shard == nil:
		return nil
	case p.RowNormalize:
		return cli.Usagef("--row-normalize: the features of shards stay as they are; normalise them before saga data shard, or --row-normalize off")
	case d.Vertices.Kinds != nil && !p.OneHot && !p.OfAll && (p.plain() || p.Embedding > 0 || p.Features == "identity"): // types without features have learned rows
		return nil
	case p.OneHot || p.Features != "" || p.Embedding > 0:
		return cli.Usagef("a run over shards needs the features of the data; %s has %d columns", d.Name, d.FeatureCols)
	}
	return nil
}

// dense builds a model that reads features as they are, if the form of the features was not asked for.
func (j *job) dense(s *settings, why *saga.FeaturesError, w wanted, log *slog.Logger) (err error) {
	kinds := j.data.Vertices.Kinds
	switch {
	case s.Data.Features != "auto" && kinds == nil:
		return fmt.Errorf("--features %s: %v; data, degree, one-hot and embedding:64 give rows that every model reads", s.Data.Features, why.Err)
	case kinds != nil && (s.Data.Features != "auto" || j.prep.Features == "identity"):
		return s.rowless(why)
	case j.prep.Features == "identity":
		j.prep.Features, j.prep.OneHot = "", true
		err = j.applied(log)
	default:
		j.prep.Features = ""
		j.data.HoldFeatures()
		j.data.Vertices.Kinds = kinds.Changed((*dataset.Data).HoldFeatures)
	}
	if err == nil {
		err = j.build(s, j.cfg, w)
	}
	if kinds != nil && errors.As(err, &why) {
		return s.rowless(why)
	}
	return err
}

// rowless says what would do where a model reads rows of vertices of several types, some of which have none.
func (s *settings) rowless(why *saga.FeaturesError) error {
	return fmt.Errorf("%s: a type of vertices has no features, or they stay sparse, and the model %s reads them other than by a product with a weight: --project begins with such a product for each type, to --hidden columns (%v)",
		s.Data.Path, s.Model.Name, why.Err)
}
