package dataset

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
)

// HeteroSpec describes a generated graph of several types.
type HeteroSpec struct {
	Types     []TypeSpec
	Relations []RelationSpec
	Target    string // the type that has labels
	Classes   int
	Reverse   bool // add rev_NAME to relations between two types, and reverse edges within a type
	Seed      uint64
}

// TypeSpec describes a type.
type TypeSpec struct {
	Name     string
	Vertices int
	Features int // columns; 0: none
}

// RelationSpec describes a relation.
type RelationSpec struct {
	Source, Name, Target string
	Edges                int
}

// magSpec is the schema of ogbn-mag with one n-th of its vertices and edges, and their reverses.
func magSpec(n int) HeteroSpec {
	s := HeteroSpec{Target: "paper", Classes: 349, Reverse: true, Seed: 1}
	for _, t := range []TypeSpec{{"paper", 736389, 128}, {"author", 1134649, 0}, {"institution", 8740, 0}, {"field_of_study", 59965, 0}} {
		s.Types = append(s.Types, TypeSpec{t.Name, max(1, t.Vertices/n), t.Features})
	}
	for _, r := range []RelationSpec{{"author", "affiliated_with", "institution", 1043998}, {"author", "writes", "paper", 7145660},
		{"paper", "cites", "paper", 5416271}, {"paper", "has_topic", "field_of_study", 7505078}} {
		s.Relations = append(s.Relations, RelationSpec{r.Source, r.Name, r.Target, max(1, r.Edges/n)})
	}
	return s
}

// IsHeteroSpec reports whether a text for the generator is of a graph with several types.
func IsHeteroSpec(text string) bool {
	return text == "mag" || strings.HasPrefix(text, "mag/") || strings.HasPrefix(text, "mag,") || strings.Contains(text, ":")
}

// ParseHeteroSpec reads a text such as paper=1000x64,author=2000,author:writes:paper=5000,target=paper,classes=8,reverse=yes,seed=1: a
// number of vertices for each type, and of columns of features behind an x, and a number of edges for each relation. mag/20 stands for
// the types and relations of ogbn-mag with a 20th of its vertices and edges; mag alone for all of them.
func ParseHeteroSpec(text string) (s HeteroSpec, err error) {
	s = HeteroSpec{Classes: 8, Seed: 1}
	for i, entry := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(entry, "=")
		if share, mag := strings.CutPrefix(entry, "mag"); !ok && i == 0 && mag {
			n := 1
			if share != "" {
				if n, err = strconv.Atoi(strings.TrimPrefix(share, "/")); err != nil || n < 1 || share[0] != '/' {
					return s, fmt.Errorf("%q: want mag, or mag/N for one N-th of it", entry)
				}
			}
			s = magSpec(n)
			continue
		}
		if !ok {
			return s, fmt.Errorf("%q: want TYPE=VERTICES, TYPE=VERTICESxCOLUMNS, SOURCE:NAME:TARGET=EDGES, target=, classes=, reverse= or seed=", entry)
		}
		if err := s.set(key, value); err != nil {
			return s, fmt.Errorf("%q: %w", entry, err)
		}
	}
	return s, s.check()
}

// set takes one entry.
func (s *HeteroSpec) set(key, value string) (err error) {
	number := func(text string, most int) int {
		x, wrong := parseSize(text)
		if wrong != nil || x < 1 || x > most {
			err = fmt.Errorf("%.40q: want a number from 1 to %d", text, most)
		}
		return x
	}
	switch ends := strings.Split(key, ":"); {
	case key == "target":
		s.Target = value
	case key == "classes":
		s.Classes = number(value, maxClasses)
	case key == "seed":
		s.Seed, err = strconv.ParseUint(value, 10, 64)
	case key == "reverse":
		if s.Reverse = value == "yes"; value != "yes" && value != "no" {
			err = fmt.Errorf("%.40q: yes or no", value)
		}
	case len(ends) == 3 && !slices.Contains(ends, ""):
		s.Relations = append(s.Relations, RelationSpec{ends[0], ends[1], ends[2], number(value, 1<<31)})
	case len(ends) != 1 || key == "":
		err = fmt.Errorf("want SOURCE:NAME:TARGET")
	default:
		vertices, columns, wide := strings.Cut(value, "x")
		t := TypeSpec{Name: key, Vertices: number(vertices, 1<<31)}
		if wide {
			t.Features = number(columns, chunk.MaxFeatureCols)
		}
		s.Types = append(s.Types, t)
	}
	return err
}

// parseSize reads a whole number such as 2000, 2e3 or 2K.
func parseSize(text string) (int, error) {
	scale := 1.0
	for unit, factor := range map[string]float64{"K": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text, scale = rest, factor
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if x *= scale; err == nil && (x != float64(int(x)) || x > 1<<40) {
		err = fmt.Errorf("%v is no whole number", x)
	}
	return int(x), err
}

func (s *HeteroSpec) check() error {
	if len(s.Types) == 0 || len(s.Relations) == 0 {
		return fmt.Errorf("%d types and %d relations: at least one of each", len(s.Types), len(s.Relations))
	}
	has := func(name string) bool {
		return slices.ContainsFunc(s.Types, func(t TypeSpec) bool { return t.Name == name })
	}
	for _, r := range s.Relations {
		for _, end := range []string{r.Source, r.Target} {
			if !has(end) {
				return fmt.Errorf("relation %s goes to or from %.40q, which is no type", r.Name, end)
			}
		}
	}
	if s.Target == "" {
		s.Target = s.Types[0].Name
	}
	if !has(s.Target) {
		return fmt.Errorf("target=%s is no type", s.Target)
	}
	return nil
}

// SyntheticHetero generates a graph. Every vertex belongs to one of the classes, in turn, which is the label in the target
// type. Seven of ten edges join vertices of one class; sources are chosen unevenly, so that degrees differ. Features are a
// number that the class has in each column, with noise. What is drawn for a type or relation depends on the seed and its name alone.
func SyntheticHetero(s HeteroSpec) (*Hetero, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	h := &Hetero{Name: "synthetic", Report: Report{Form: "generated"}}
	at := map[string]int{}
	for i, t := range s.Types {
		at[t.Name] = i
		d := &Data{Edges: &chunk.Edges{V: t.Vertices}, FeatureCols: t.Features}
		h.Types = append(h.Types, VertexType{t.Name, d})
		r := s.random(t.Name)
		if t.Features > 0 {
			d.Features = make([]float32, t.Vertices*t.Features)
			center := make([]float32, s.Classes*t.Features)
			for i := range center {
				center[i] = float32(r.NormFloat64())
			}
			for i := range d.Features {
				v, c := i/t.Features, i%t.Features
				d.Features[i] = center[v%s.Classes*t.Features+c] + 2*float32(r.NormFloat64())
			}
		}
		if t.Name == s.Target {
			d.Classes = min(s.Classes, t.Vertices)
			d.Labels = make([]int32, t.Vertices)
			for v := range d.Labels {
				d.Labels[v] = int32(v % s.Classes)
			}
			if err := DefaultSplit(d, VertexLabels, s.Seed); err != nil {
				return nil, err
			}
			d.Report = Report{}
		}
	}
	for _, x := range s.Relations {
		from, to := at[x.Source], at[x.Target]
		e := s.edges(x, h.Types[from].Rows.Edges.V, h.Types[to].Rows.Edges.V)
		h.Relations = append(h.Relations, Relation{from, x.Name, to, &Data{Edges: e}})
	}
	if err := h.sorted(); err != nil {
		return nil, err
	}
	if s.Reverse {
		if err := h.undirect(); err != nil {
			return nil, err
		}
	}
	return h, ValidateHetero(h)
}

// random is a source that depends on the seed and a name.
func (s *HeteroSpec) random(name string) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(crc32.ChecksumIEEE([]byte(name)))))
}

// edges draws the edges of a relation between types of so many vertices.
func (s *HeteroSpec) edges(x RelationSpec, from, to int) *chunk.Edges {
	r := s.random(x.Source + ":" + x.Name + ":" + x.Target)
	e := &chunk.Edges{V: max(from, to), Src: make([]uint32, x.Edges), Dst: make([]uint32, x.Edges)}
	for k := range e.Src {
		u := r.Float64()
		src := int(u * u * float64(from))
		dst := r.IntN(to)
		if r.IntN(10) < 7 {
			if same := dst - dst%s.Classes + src%s.Classes; same < to {
				dst = same
			}
		}
		e.Src[k], e.Dst[k] = uint32(src), uint32(dst)
	}
	return e
}
