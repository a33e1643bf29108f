package saga

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/saga/batches"
	"sagann/sample"
)

// Sampled training over several vertex types and relations: each relation has a sampler.

// of are the types and relations as batches are drawn from them by s. loops says that self loops of the model are always drawn.
func (k *kinds) of(s *Sampling, loops bool) (*batches.Kinds, error) {
	if k.types[k.target].in.Data.Shard != nil {
		return nil, errors.New("batches of several types of vertices are drawn from a whole graph, which no rank has of shards; name the graph that they were made of, or train without --sample")
	}
	named := map[int]sample.Sampler{} // by relation of the graph
	for name, d := range s.Relations {
		r, err := k.graph.Relation(name)
		if err != nil {
			return nil, fmt.Errorf("--sample %s: %w", name, err)
		}
		if _, twice := named[r]; twice {
			return nil, fmt.Errorf("--sample names relation %s twice", k.graph.FullName(r))
		}
		d.KeepLoops = d.KeepLoops || loops
		named[r] = d
	}
	out := &batches.Kinds{Target: k.target, Links: max(0, k.linked())}
	for i := range k.types {
		out.Types = append(out.Types, k.types[i].in)
	}
	var missing []string
	for i := range k.relations {
		r := &k.relations[i]
		x := batches.Relation{Name: k.draws(i), Src: r.src, Dst: r.dst, In: r.in}
		if d, ok := named[r.number]; ok {
			x.Sampler = &d
		} else if s.Sampler.Name == "" {
			missing = append(missing, r.full())
		}
		out.Relations = append(out.Relations, x)
	}
	if missing != nil {
		return nil, fmt.Errorf("--sample has no fan-outs of %s: name each relation that labels depend on, or give fan-outs without a name for all others", strings.Join(missing, ", "))
	}
	return out, nil
}

// samplers are the samplers that s names: of all relations, or of each.
func (s *Sampling) samplers() (list []*sample.Sampler) {
	if s.Sampler.Name != "" || len(s.Relations) == 0 {
		list = append(list, &s.Sampler)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		d := s.Relations[name]
		list = append(list, &d)
	}
	return list
}

// relationsText is what s says of relations, as in the digest.
func (s *Sampling) relationsText() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Relations)) {
		d := s.Relations[name]
		list = append(list, fmt.Sprintf("%q %s", name, samplerText(&d)))
	}
	return strings.Join(list, ", ")
}

// checkRelations returns an error if s names relations, and the graph has one without a name, or if no relation leads to what is predicted.
func (p *definition) checkRelations(s *Sampling) error {
	switch k := p.dims.kinds; {
	case k == nil && len(s.Relations) > 0:
		return fmt.Errorf("%s has one type of vertices and one relation: --sample takes fan-outs without a name, such as 15,10", p.data.Name)
	case k != nil && len(k.relations) == 0 && p.model.gathers() > 0:
		return fmt.Errorf("no relation of %s leads to vertices of type %s, which have the labels, so there is nothing to sample; the reverse of a relation (--undirected) would", p.data.Name, k.types[k.target].name)
	}
	return nil
}

// samplerText is the name of d with its sizes.
func samplerText(d *sample.Sampler) string {
	var sizes []string
	for step := range max(0, d.Steps) {
		n := 1
		if d.Size != nil {
			n = d.Size(step)
		}
		if n == math.MaxInt32 {
			sizes = append(sizes, "all")
			continue
		}
		sizes = append(sizes, fmt.Sprint(n))
	}
	text := strings.TrimSpace(d.Name + " " + strings.Join(sizes, ","))
	if d.Replace {
		text += " with replacement"
	}
	if d.Top > 0 {
		text += fmt.Sprintf(", the %d most visited by walks of %d", d.Top, d.Length)
	}
	return text
}

// endAt is the vertices of a type at times, at which pairs begin or end.
type endAt struct {
	data *dataset.Data // its vertices
	ends []int         // as request.ends
	at   *batches.Moments
}

// endsAtTimes are the ends of pairs of d: of a relation between two types those of either. src and dst number them, one type behind the other.
func endsAtTimes(d *dataset.Data, pairs ...*dataset.Pairs) (list []endAt, src, dst [][]uint32) {
	at, src, dst := batches.MomentsOf(pairs...)
	k := d.Vertices.Kinds
	if k == nil || k.Graph.Relations[k.Relation].Source == k.Graph.Relations[k.Relation].Target {
		return []endAt{{d, nil, at}}, src, dst
	}
	r := k.Graph.Relations[k.Relation]
	behind := dataset.PairEnds(d)[1].First
	near, far, place := &batches.Moments{}, &batches.Moments{}, make([]uint32, len(at.Vertex))
	for i, v := range at.Vertex {
		to := near
		if v >= behind {
			to, v = far, v-behind
		}
		place[i] = uint32(len(to.Vertex))
		to.Vertex, to.Time = append(to.Vertex, v), append(to.Time, at.Time[i])
	}
	for i, v := range at.Vertex {
		if v >= behind {
			place[i] += uint32(len(near.Vertex))
		}
	}
	for _, lists := range [][][]uint32{src, dst} {
		for _, list := range lists {
			for i, n := range list {
				list[i] = place[n]
			}
		}
	}
	ends := []int{r.Source, r.Target}
	return []endAt{{d, ends, near}, {k.With(d).At(r.Target), ends, far}}, src, dst
}
