package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kinds of generated graphs.
const (
	Communities = "communities" // planted communities with degrees as asked
	RMAT        = "rmat"        // recursive matrix, as Graph500 generates
)

// Spec describes the graph that Synthetic generates. Zero values of Kind and Copies mean
// Communities and 1.
type Spec struct {
	Kind     string
	Vertices int     // of one copy, at least 2
	Edges    int     // directed edges of one copy
	Features int     // width of the feature rows
	Classes  int     // 1..Vertices
	Seed     uint64  // equal specs give equal graphs
	Copies   int     // disjoint copies of the graph
	Skew     float64 // 0: equal expected degrees; a in (0,2]: expected degree of rank r is proportional to r^-a
}

// DefaultSpec is the built-in graph. It has planted communities, which a model can learn if it uses
// the edges but not from features alone.
func DefaultSpec() Spec {
	return Spec{Kind: Communities, Vertices: 20000, Edges: 400000, Features: 64, Classes: 8, Seed: 1, Copies: 1}
}

var specKeys = []string{"classes", "copies", "edges", "features", "kind", "seed", "skew", "vertices"}

// ParseSpec reads "key=value,key=value". Keys that are not given are those of DefaultSpec. Counts may be
// written as 233000, 233e3, 8K, 2.5M or 1G (powers of
// 1000) and 8Ki, 1Mi, 1Gi (powers of 1024). An unknown key is an error that
// lists the keys.
func ParseSpec(text string) (Spec, error) {
	s := DefaultSpec()
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	seen := map[string]bool{}
	for item := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !slices.Contains(specKeys, key) {
			return Spec{}, fmt.Errorf("unknown key %q in %q; the keys are %s", key, text, strings.Join(specKeys, ", "))
		}
		if !ok || value == "" {
			return Spec{}, fmt.Errorf("key %q in %q has no value", key, text)
		}
		if seen[key] {
			return Spec{}, fmt.Errorf("key %q stands twice in %q", key, text)
		}
		seen[key] = true
		if err := s.set(key, value); err != nil {
			return Spec{}, fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	return s, s.check()
}

func (s *Spec) set(key, value string) error {
	var err error
	switch key {
	case "kind":
		s.Kind = value
	case "skew":
		s.Skew, err = strconv.ParseFloat(value, 64)
	case "seed":
		s.Seed, err = strconv.ParseUint(value, 10, 64)
	default:
		var n int
		n, err = parseCount(value)
		switch key {
		case "vertices":
			s.Vertices = n
		case "edges":
			s.Edges = n
		case "features":
			s.Features = n
		case "classes":
			s.Classes = n
		case "copies":
			s.Copies = n
		}
	}
	return err
}

// The largest sizes that Synthetic generates: ids must fit in 32 bits, and the graph must fit in
// memory.
const (
	maxSynthVertices = 1 << 31
	maxSynthValues   = 1 << 36
)

// check returns an error, which names the key, if no graph can have the spec.
func (s *Spec) check() error {
	if s.Copies == 0 {
		s.Copies = 1
	}
	if s.Kind == "" {
		s.Kind = Communities
	}
	switch {
	case s.Kind != Communities && s.Kind != RMAT:
		return fmt.Errorf("kind=%s: the kinds are %s and %s", s.Kind, Communities, RMAT)
	case s.Vertices < 2 || s.Vertices > maxSynthVertices:
		return fmt.Errorf("vertices=%d: must be 2..%d", s.Vertices, maxSynthVertices)
	case s.Copies < 1 || s.Copies > maxSynthVertices/s.Vertices:
		return fmt.Errorf("copies=%d: must be at least 1 and give at most %d vertices", s.Copies, maxSynthVertices)
	case s.Edges < 0 || s.Edges > maxSynthValues/s.Copies:
		return fmt.Errorf("edges=%d: must be 0..%d over all copies", s.Edges, maxSynthValues)
	case s.Features < 1 || s.Features > maxSynthValues/s.Copies/s.Vertices:
		return fmt.Errorf("features=%d: must be at least 1 and give at most %d values", s.Features, maxSynthValues)
	case s.Classes < 1 || s.Classes > s.Vertices || s.Classes > 1<<20:
		return fmt.Errorf("classes=%d: must be 1..vertices and at most %d", s.Classes, 1<<20)
	case !(s.Skew >= 0 && s.Skew <= 2):
		return fmt.Errorf("skew=%v: must be 0..2", s.Skew)
	case s.Kind == RMAT && s.Skew != 0:
		return fmt.Errorf("skew=%v: an R-MAT graph has its own", s.Skew)
	}
	return nil
}

// parseCount reads a whole number, as ParseSpec documents.
func parseCount(text string) (int, error) {
	units := []struct {
		suffix string
		factor float64
	}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"K", 1e3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}
	number, factor := text, 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			number, factor = rest, u.factor
			break
		}
	}
	if n, err := strconv.Atoi(number); err == nil && factor == 1 {
		return n, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	f *= factor
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return int(f), nil
}
