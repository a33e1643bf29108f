package saga

import (
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/saga/rows"
)

// A graph of several vertex types and relations, as far as a model reads it.

// kinds is the types and relations that the labels of the target type, or the rows at the ends of links, depend on, in the order of their names.
type kinds struct {
	graph     *dataset.Hetero
	target    int   // number of the type whose vertices have the labels; of links, of the sources
	links     int   // number in graph of the relation of the links, or of the edges that have labels
	labelled  bool  // edges of that relation have labels, in columns of their data
	ends      []int // numbers of the types whose rows the last layer must give: the target, or those at the ends of links or labelled edges
	types     []kind
	relations []relation
	idle      string // names what labels do not depend on; "": they depend on all
}

// kind is a vertex type.
type kind struct {
	name     string
	in       *rows.Inputs
	features int  // columns of the features
	identity bool // there are none: they are the identity, and its products with weights are learned rows
	learned  bool // there are none: they are rows of Model.Embedding
}

// relation is the edges of one relation.
type relation struct {
	Relation
	number      int          // in graph
	src, dst    int          // numbers of the types at its ends
	scope       string       // of its parameters; "": there is one relation
	in          *rows.Inputs // its degrees; In.Edges are its edges as the model sees them
	weight      bool
	types, data int // number of edge types, 0: none; columns of edge data
}

// endsOf are the types whose rows the last layer of m must give: the target, or those at the ends of links or labelled edges of a relation.
func endsOf(h *dataset.Hetero, m *Model, target, link int) []int {
	ends := []int{target}
	if r := h.Relations; (m.Task == LinkTask || m.Task == EdgeTask) && r[link].Target != target {
		ends = append(ends, r[link].Target)
	}
	return ends
}

// full is the name of r with its ends: source:name:target.
func (r *Relation) full() string { return r.Src + ":" + r.Name + ":" + r.Dst }

// kindsOf is what model m, so many layers of which gather, reads of the graph of labelled for rows of the types ends (nil: those of its task), the vertices that have the labels.
func kindsOf(labelled *dataset.Data, m *Model, layers int, ends []int) *kinds {
	k := labelled.Vertices.Kinds
	h := k.Graph
	out := &kinds{graph: h, links: k.Relation, labelled: m.Task == EdgeTask}
	if ends == nil {
		ends = endsOf(h, m, k.Type, k.Relation)
	}
	types, relations := h.Within(ends, layers)
	relations[k.Relation] = relations[k.Relation] || out.labelled
	to := make([]int, len(h.Types))
	var idle []string
	for t, x := range h.Types {
		if !types[t] {
			idle = append(idle, "vertices of "+x.Name)
			continue
		}
		d := x.Rows
		if to[t] = len(out.types); t == k.Type { // its features and splits may be others than those of the file
			out.target, d = to[t], labelled
		}
		out.types = append(out.types, kind{name: x.Name, features: d.FeatureCols, identity: d.FeatureCols == 0,
			in: rows.New(d, d.Edges, rows.Meaning{}, false)})
	}
	for i, x := range h.Relations {
		if !relations[i] {
			idle = append(idle, "edges of "+h.FullName(i))
			continue
		}
		e := x.Links.Edges
		if m.SelfLoops && x.Source == x.Target && x.Links.Shard == nil { // a shard has them already
			if e = e.WithSelfLoops(); m.MeanLoops {
				e = e.MeanLoops(x.Links.Edges.E())
			}
		}
		out.relations = append(out.relations, relation{number: i, Relation: Relation{Name: x.Name, Src: h.Types[x.Source].Name, Dst: h.Types[x.Target].Name},
			src: to[x.Source], dst: to[x.Target], weight: e.Weight != nil, types: e.Types, data: e.DataCols,
			in: rows.New(&dataset.Data{Name: h.FullName(i), Edges: e, Shard: x.Links.Shard}, e, rows.Meaning{}, m.SelfLoops && m.OneLoop)})
	}
	for _, t := range ends {
		out.ends = append(out.ends, to[t])
	}
	out.idle = strings.Join(idle, ", ")
	out.name()
	return out
}

// name sets the scopes of parameters of relations.
func (k *kinds) name() {
	var list []Relation
	for i := range k.relations {
		list = append(list, k.relations[i].Relation)
	}
	for i, scope := range relationScopes(k.typeNames(), list) {
		k.relations[i].scope = scope
	}
}

// relationScopes are the scopes of relations among types: the name of a relation, or source:name:target where that is also a name of another
// relation or of a type, or has a colon. Names are in quotes where a colon could be of them, too. A single relation has "".
func relationScopes(types []string, relations []Relation) (list []string) {
	if len(relations) < 2 {
		return make([]string, len(relations))
	}
	for i, r := range relations {
		scope := r.Name
		other := strings.Contains(r.Name, ":") || slices.Contains(types, r.Name)
		for j, x := range relations {
			other = other || j != i && x.Name == r.Name
		}
		if other {
			if scope = r.full(); strings.Count(scope, ":") > 2 || slices.Contains(types, scope) {
				scope = fmt.Sprintf("%q:%q:%q", r.Src, r.Name, r.Dst)
			}
		}
		list = append(list, scope)
	}
	return list
}

// typeScope is the scope of the parameters of type t; "": there is one type.
func (k *kinds) typeScope(t int) string {
	if len(k.types) < 2 {
		return ""
	}
	return k.types[t].name
}

// draws is what draws in functions that run for relation r, and first values of its parameters, depend on. "": labels depend on one type and
// one relation, which are drawn for as a graph without types is.
func (k *kinds) draws(r int) string {
	if len(k.types) < 2 && len(k.relations) < 2 {
		return ""
	}
	return k.relations[r].full()
}

// typeDraws is draws for type t.
func (k *kinds) typeDraws(t int) string {
	if len(k.types) < 2 && len(k.relations) < 2 {
		return ""
	}
	return k.types[t].name
}

// totals are the numbers of vertices and edges.
func (k *kinds) totals() (vertices int, edges int64) {
	for i := range k.types {
		vertices += k.types[i].in.Edges.V
	}
	for i := range k.relations {
		edges += int64(k.relations[i].in.EdgeCount())
	}
	return vertices, edges
}

// pairs are the vertex types of the sources and the destinations of the relations.
func (k *kinds) pairs() (list [][2]int) {
	for i := range k.relations {
		list = append(list, [2]int{k.relations[i].src, k.relations[i].dst})
	}
	return list
}

// set is the edge set of relation r.
func (k *kinds) set(r int) dataflow.Set {
	return dataflow.Relation(r, k.relations[r].src, k.relations[r].dst)
}

// source is the rows that input in comes from, and its name there.
func (k *kinds) source(in dataflow.Input) (*rows.Inputs, string) {
	if name, r := dataflow.RelationOf(in.Name); rows.OfDegrees(name) {
		return k.relations[r].in, name
	}
	return k.types[in.Set.Type].in, in.Name
}

// source is the rows that input i comes from, and its name there.
func (in *inputs) source(i dataflow.Input) (*rows.Inputs, string) {
	if in.kinds == nil {
		return in.Inputs, i.Name
	}
	return in.kinds.source(i)
}

// farEnd is the rows of the vertices at the second end of links between two types.
func (in *inputs) farEnd() *rows.Inputs { return in.kinds.types[in.kinds.ends[1]].in }

// ofType is the rows of the vertices of type t.
func (in *inputs) ofType(t uint16) *rows.Inputs {
	if in.kinds == nil {
		return in.Inputs
	}
	return in.kinds.types[t].in
}

// each calls f for the rows of every type.
func (in *inputs) each(f func(*rows.Inputs)) {
	if in.kinds == nil {
		f(in.Inputs)
		return
	}
	for i := range in.kinds.types {
		f(in.kinds.types[i].in)
	}
}

// holder is the rows that have defined input name (Keep or Make); those of the labelled type if none have.
func (in *inputs) holder(name string) (has *rows.Inputs) {
	has = in.Inputs
	in.each(func(x *rows.Inputs) {
		if x.Kept(name) != nil || x.Made(name) {
			has = x
		}
	})
	return has
}

// allKept lists the names of what was kept of all types, sorted.
func (in *inputs) allKept() (names []string) {
	in.each(func(x *rows.Inputs) { names = append(names, x.AllKept()...) })
	slices.Sort(names)
	return names
}

// facts are the types and relations in their order, a line for each, with what digests depend on.
func (k *kinds) facts() (lines []string) {
	lines = append(lines, "draws by names")
	for i := range k.types {
		lines = append(lines, fmt.Sprintf("type %q", k.types[i].name))
	}
	for i := range k.relations {
		r := &k.relations[i]
		lines = append(lines, fmt.Sprintf("relation %q %q %q", r.Src, r.Name, r.Dst))
	}
	return lines
}

// numbers says how the sets of blocks are numbered.
func (d *dims) numbers() plan.Numbers {
	if d.kinds == nil {
		return plan.Numbers{}
	}
	return plan.Numbers{Types: len(d.kinds.types), Relations: len(d.kinds.relations)}
}

// linked is the relation of the links or of the edges that have labels.
func (k *kinds) linked() int {
	return slices.IndexFunc(k.relations, func(r relation) bool { return r.number == k.links })
}

// learnsRows is an error if types without features have rows that are learned a vertex at a time, beside what these do not go with.
func (k *kinds) learnsRows(m *Model, c *Config) error {
	for i := range k.types {
		switch t := &k.types[i]; {
		case !t.identity && !t.learned:
		case c.Optimizer.ClipNorm > 0:
			return fmt.Errorf("saga: vertices of type %s have no features, and gradients (--clip-norm) are not clipped together with rows that are learned a vertex at a time; leave Optimizer.ClipNorm 0", t.name)
		case m.Average > 0 && t.identity:
			return fmt.Errorf("saga: vertices of type %s have no features, and averages of parameters (--ema) have none of rows that are learned a vertex at a time; leave Model.Average 0", t.name)
		}
	}
	return nil
}

// shardsFit is an error if shards of d are of other types and relations than those that labels depend on through so many layers.
func (k *kinds) shardsFit(d *dataset.Data, layers int) error {
	switch x := d.Shard; {
	case x == nil:
	case k.idle != "":
		return fmt.Errorf("saga: %s is in shards for more layers than the model has: its labels do not depend on %s; saga data shard --layers %d leaves them out", d.Name, k.idle, layers)
	case x.Layers > 0 && layers > x.Layers:
		return fmt.Errorf("saga: %s is in shards for fewer layers than the model has: %d, and not %d; saga data shard --layers %[3]d adds what its labels depend on", d.Name, x.Layers, layers)
	}
	return nil
}

// labels tells whether the edges of relation r have labels.
func (k *kinds) labels(r int) bool { return k.labelled && k.relations[r].number == k.links }

// text is the first line of a report: the types and relations with their sizes, and what labels do not depend on.
func (k *kinds) text(name string, classes int) string {
	v, e := k.totals()
	var types, relations []string
	for i := range k.types {
		t := &k.types[i]
		columns := fmt.Sprintf("%d features", t.features)
		if t.identity {
			columns = "no features"
		} else if t.learned {
			columns = fmt.Sprintf("%d learned columns", t.features)
		}
		types = append(types, fmt.Sprintf("%d %s (%s)", t.in.Edges.V, t.name, columns))
	}
	for i := range k.relations {
		r := &k.relations[i]
		relations = append(relations, fmt.Sprintf("%d %s:%s:%s", r.in.EdgeCount(), r.Src, r.Name, r.Dst))
	}
	text := fmt.Sprintf("%s: %d vertices, %d edges, %d classes of %s; vertices %s; edges %s", name, v, e, classes, k.types[k.target].name, strings.Join(types, ", "), strings.Join(relations, ", "))
	if k.idle != "" {
		text += "; left out, as no label depends on them: " + k.idle
	}
	return text
}

func (k *kinds) typeNames() (names []string) {
	for i := range k.types {
		names = append(names, k.types[i].name)
	}
	return names
}

// featuresOf names the features of type t. Those that are the identity have a name of their own, as their products become learned rows.
func (k *kinds) featuresOf(t int) string {
	if k.types[t].identity {
		return rows.Features + ":" + k.types[t].name
	}
	return rows.Features
}

// edgesOver are the edges of relation r in a numbering up to v, which number has by type and vertex.
func (k *kinds) edgesOver(r, v int, number [][]uint32) *chunk.Edges {
	x := &k.relations[r]
	e := *x.in.Edges
	e.V = v
	e.Src, e.Dst = make([]uint32, len(e.Src)), make([]uint32, len(e.Dst))
	chunk.Ranges(len(e.Src), func(lo, hi int) {
		src, dst := number[x.src], number[x.dst]
		for i := lo; i < hi; i++ {
			e.Src[i], e.Dst[i] = src[x.in.Edges.Src[i]], dst[x.in.Edges.Dst[i]]
		}
	})
	return &e
}
