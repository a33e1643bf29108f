package main

import (
	"path/filepath"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
)

// source names a graph.
type source struct {
	Path       string     `arg:"" optional:"" name:"path" help:"The graph; the same as --data."`
	Data       string     `placeholder:"PATH" help:"The graph: a folder, a file, karate or synthetic[:..]."`
	Undirected bool       `help:"Add the reverse of every edge that has none."`
	Simple     bool       `help:"Drop self loops and repeated edges."`
	Relabel    string     `default:"auto" enum:"auto,never,always" placeholder:"WHEN" help:"Number the vertices of an edge list anew, 0, 1, …: auto (where numbers are missing), never or always (${default})."`
	Mask       uint16     `default:"0" placeholder:"K" help:"Which split to take where a file has masks for several, counted from 0 (${default})."`
	Tables     tableFlags `embed:"" group:"Tables (CSV or TSV, also .gz), instead of --data:"`
}

// tableFlags say what is read from tables.
type tableFlags struct {
	Edges        []string    `sep:"none" placeholder:"FILE" help:"Table of edges; of several types, NAME=SOURCE:TARGET:FILE for each relation."`
	Vertices     []string    `sep:"none" placeholder:"FILE" help:"Table of vertices, or TYPE=FILE for each type (then TYPE=COL names columns of one table), which are numbered in its order; or an SVMlight file (.svm, .svmlight, .libsvm), whose line v, from 0, is vertex v."`
	Heading      string      `default:"auto" enum:"auto,yes,no" placeholder:"WHEN" help:"The first line names the columns: auto, yes or no (${default}). Without names columns are 1, 2, …"`
	Source       string      `placeholder:"COL" help:"Column of --edges; default: source, src, from, source_id, from_id, node1, id1, u, or the first of two columns."`
	Target       string      `placeholder:"COL" help:"Column of --edges; default: target, dst, destination, to, target_id, to_id, node2, id2, v, or the second of two columns."`
	Weight       string      `placeholder:"COL" help:"Column of --edges; default: weight, or the only column named as weights are (w, value, count, …)."`
	More         moreColumns `embed:""`
	SkipUnknown  bool        `name:"skip-unknown" help:"Leave out edges whose ends --vertices does not have, and say how many."`
	EdgeFeatures []string    `name:"edge-features" placeholder:"COLS" help:"Columns of --edges with numbers, such as 'e*'."`
	ID           string      `name:"id" placeholder:"COL" help:"Column of --vertices; default: id, vertex, node, node_id or vertex_id, or the only one whose name ends in id, or name, or the first column."`
	Label        []string    `placeholder:"COLS" help:"Column of --vertices with classes, numbers or text; several: 0 and 1 each; default: label, class or y."`
	Targets      []string    `placeholder:"COLS" help:"Columns of --vertices with numbers to predict, such as price; all empty for none."`
	Unlabelled   string      `placeholder:"WORD" help:"A word in the column of --label that means that the vertex has no label."`
	Split        string      `placeholder:"COL" help:"Column of --vertices with train, val or test; default: split, where there is one."`
	Features     []string    `placeholder:"COLS" help:"Columns of --vertices with numbers, such as 'f*' or age,height; their order is kept."`
	Missing      string      `placeholder:"WHAT" help:"Fill missing numbers of --features with the mean of the column or with 0, and add a column that tells where."`
	OneHot       []string    `name:"one-hot" placeholder:"COLS" help:"Columns of --vertices with words: each word becomes a column of 0 and 1."`
	Standardize  bool        `help:"Subtract the mean of each column of --features, and divide by its standard deviation."`
	Like         string      `placeholder:"STORE" help:"Prepare features as those of a store that --missing, --one-hot or --standardize made: by its means and words."`
	Seed         uint64      `kong:"-"` // of the split whose training rows features are prepared by
}

// moreColumns are columns of tables that few graphs have.
type moreColumns struct {
	EdgeType   string `name:"edge-type" placeholder:"COL" help:"Column of --edges; default: edge_type or type, where there is one."`
	EdgeTime   string `name:"edge-time" placeholder:"COL" help:"Column of --edges with times, numbers or days and moments (2026-03-01 12:30:00); none: none; default: edge_time, time or timestamp, where there is one."`
	VertexTime string `name:"vertex-time" placeholder:"COL" help:"Column of --vertices with times: with --sample-time a vertex sees no later edge."`
}

// tables are those that the flags name, or nil.
func (f *tableFlags) tables() (*dataset.Tables, error) {
	if f.isTyped() {
		_, err := f.typed()
		return nil, err
	}
	if len(f.Edges) > 1 || len(f.Vertices) > 1 {
		return nil, cli.Usagef("several tables: %s", typedHelp)
	}
	edges, vertices := strings.Join(f.Edges, ""), strings.Join(f.Vertices, "")
	if edges == "" {
		given := vertices + f.Source + f.Target + f.Weight + f.More.EdgeType + f.More.EdgeTime
		if given != "" || f.SkipUnknown || f.Heading != "auto" || len(f.EdgeFeatures) > 0 || f.ofVertices() {
			return nil, cli.Usagef("--vertices, --heading, --skip-unknown and names of columns go with a table of edges: --edges FILE in place of --data FILE")
		}
		return nil, nil
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return &dataset.Tables{Edges: edges, SkipUnknown: f.SkipUnknown, Vertices: vertices, Heading: f.Heading, Source: f.Source, Target: f.Target,
		Weight: f.Weight, EdgeType: f.More.EdgeType, EdgeTime: f.More.EdgeTime, EdgeFeatures: f.EdgeFeatures, ID: f.ID, Label: f.Label, Targets: f.Targets, Time: f.More.VertexTime, Split: f.Split, Features: f.Features,
		Prepare: dataset.Preparation{Unlabelled: f.Unlabelled, Missing: f.Missing, OneHot: f.OneHot, Standardize: f.Standardize, Like: f.Like, Seed: f.Seed}}, nil
}

// check returns an error if flags of tables do not go together.
func (f *tableFlags) check() error {
	switch {
	case len(f.Vertices) == 0 && f.ofVertices():
		return cli.Usagef("columns of vertices are named, but no table: --vertices FILE")
	case len(f.Vertices) == 0 && f.SkipUnknown:
		return cli.Usagef("--skip-unknown leaves out edges to vertices that a table does not have: --vertices FILE")
	case f.Missing != "" && f.Missing != "mean" && f.Missing != "0":
		return cli.Usagef("--missing %s: mean or 0", f.Missing)
	case (f.Missing != "" || f.Standardize) && len(f.Features) == 0:
		return cli.Usagef("--missing and --standardize are of columns with numbers: --features COLS")
	case f.Like != "" && (f.Missing != "" || f.Standardize || len(f.OneHot)+len(f.Features) > 0):
		return cli.Usagef("--like takes the columns, and how they are prepared, from a store: without --features, --missing, --one-hot and --standardize")
	}
	return nil
}

// ofVertices reports whether flags are given that say what the table of vertices has.
func (f *tableFlags) ofVertices() bool {
	return f.ID+f.Split+f.More.VertexTime+f.Unlabelled+f.Missing+f.Like != "" || f.Standardize || len(f.Label)+len(f.Targets)+len(f.Features)+len(f.OneHot) > 0
}

// dataHint tells how a graph is named to command, which err says it was not.
func dataHint(command string, err error) string {
	for _, flag := range []string{"edges", "vertices", "id", "label", "features"} {
		if command != "data generate" && strings.HasPrefix(err.Error()+",", "unknown flag --"+flag+",") {
			return "saga: tables are converted first: saga data convert --edges e.csv --vertices v.csv --label L --features 'f*' --out graph.saga; then --data graph.saga\n"
		}
	}
	if command == "data generate" && strings.HasPrefix(err.Error(), "unknown flag --") {
		return "saga: sizes are no flags: saga data generate vertices=2000,edges=20e3 --out graph.saga\n"
	}
	if strings.HasPrefix(err.Error(), "unknown flag --mask,") {
		return "saga: a split is chosen when a graph is converted: saga data convert --data graph.npz --mask K --out graph.saga; then --data graph.saga\n"
	}
	if path, ok := strings.CutPrefix(err.Error(), "unexpected argument "); ok && (command == "train" || command == "plan") {
		path, _, _ = strings.Cut(path, ", did you mean")
		return "saga: if it is a graph: --data " + path + "\n"
	}
	return ""
}

func (s *source) name() (string, error) {
	if _, err := s.Tables.tables(); err != nil {
		return "", err
	}
	switch {
	case len(s.Tables.Edges) > 0 && s.Path+s.Data != "":
		return "", cli.Usagef("two graphs: %s and --edges %s", s.Path+s.Data, s.Tables.Edges[0])
	case len(s.Tables.Edges) > 0:
		return s.Tables.Edges[0], nil
	case s.Path != "" && s.Data != "" && s.Path != s.Data:
		return "", cli.Usagef("two graphs: %s and --data %s", s.Path, s.Data)
	case s.Path+s.Data == "":
		return "", cli.Usagef("which graph? --data PATH")
	case s.Path != "":
		return s.Path, nil
	}
	return s.Data, nil
}

func (s *source) options() dataset.Options {
	relabel := map[string]dataset.Relabel{"auto": dataset.RelabelAuto, "never": dataset.RelabelNever, "always": dataset.RelabelAlways}
	return dataset.Options{Undirected: s.Undirected, Simple: s.Simple, Relabel: relabel[s.Relabel], Mask: int(s.Mask)}
}

// open reads the graph, and logs what looks wrong about it.
func (s *source) open(a *app) (string, *dataset.Data, error) {
	name, err := s.name()
	if err != nil {
		return "", nil, err
	}
	t, err := s.Tables.tables()
	if err != nil {
		return "", nil, err
	}
	if s.Tables.isTyped() {
		return name, nil, errTypedTables()
	}
	var d *dataset.Data
	opt := s.options()
	opt.SparseFrom = 2 // what comes sparse stays so
	if t != nil {
		d, err = dataset.LoadTables(*t, opt)
	} else {
		d, err = cli.OpenData(name, opt)
	}
	if err == nil {
		warn(a, d)
	}
	return name, d, err
}

// warn logs what loading found wrong.
func warn(a *app, d *dataset.Data) {
	for _, w := range d.Report.Warnings {
		a.Log.Warn(w)
	}
}

// tell logs what loading the graph at path found wrong and did, and, where walks and samples follow edges as
// they point and nothing adds reverses, that no edge has its reverse. What was done to a store was told when
// it was made.
func tell(a *app, path string, d *dataset.Data, directed bool) {
	warn(a, d)
	if !strings.HasSuffix(path, ".saga") {
		for _, c := range d.Report.Changes {
			a.Log.Info(c)
		}
	}
	if directed {
		tellEdges(a.Log, path, d, false)
	}
}

// tellNumbers warns that path, a .npy of vertices, has numbers where the data has names.
func tellNumbers(a *app, path, other string, d *dataset.Data) {
	if filepath.Ext(path) == ".npy" && d.Vertices.Names != nil {
		a.Log.Warn(path + " has the numbers of vertices in the order of the data, from 0 on, as a .npy has no room for their names; a " + other + " has names")
	}
}

// changes is what was done to data, a line each, to stand under their description.
func changes(r dataset.Report) string {
	var b strings.Builder
	for _, c := range r.Changes {
		b.WriteString("  " + c + "\n")
	}
	return b.String()
}
