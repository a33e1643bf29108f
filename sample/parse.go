package sample

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Forms has an example of the text of every sampler that Parse knows.
var Forms = []string{"neighbours:15,10,5", "weighted:15,10,5", "layer:512,512", "fastgcn:512,512", "ladies:512,512", "mvs:15,10", "cluster:20x1500 (clusters of a batch, clusters)",
	"saint:4000x2", "shadow:2x10", "pinsage:2x50x3x10 (levels, walks, their length, neighbours)", "deepwalk", "node2vec:p=2,q=0.5", "ppr:0.15", "multirw:100"}

// Spec is the result of Parse.
type Spec struct {
	Sampler  Sampler
	Batch    int // seeds per batch for saint, clusters per batch for cluster; 0: the caller chooses
	Clusters int // clusters of the graph; 0: the caller chooses
	Longest  int // steps that walks without a bound do not exceed, but for one in 10¹⁷; 0: Sampler.Steps
}

// Parse reads the text of a sampler, in one of Forms. steps is the length of walks; 0 means Unbounded
// for ppr and is an error for other walks. Blocks and subgraphs ignore it.
func Parse(text string, steps int) (Spec, error) {
	name, rest, _ := strings.Cut(text, ":")
	n, err := numbers(rest)
	bad := func(want string) (Spec, error) {
		return Spec{}, fmt.Errorf("sampler %q: want %s", text, want)
	}
	if walk, ok, err := parseWalk(name, rest, steps); ok || err != nil {
		if err != nil {
			err = fmt.Errorf("sampler %q: %w", text, err)
		}
		spec := Spec{Sampler: walk}
		if ok && err == nil && walk.Steps == Unbounded {
			spec.Longest, err = longest(text, rest)
		}
		return spec, err
	}
	byLevel := map[string]func(...int) Sampler{"neighbours": Neighbours, "neighbors": Neighbours, "weighted": WeightedNeighbours, "layer": LayerBlocks, "fastgcn": FastGCN, "ladies": LADIES, "mvs": MVS}
	shapes := map[string]int{"cluster": 1, "saint": 2, "shadow": 2, "pinsage": 4}
	switch make, k := byLevel[name], shapes[name]; {
	case make == nil && k == 0:
		return bad("one of " + strings.Join(Forms, ", "))
	case err != nil || len(n) == 0 || k > 0 && len(n) != k && !(name == "cluster" && len(n) == 2):
		form := Forms[slices.IndexFunc(Forms, func(f string) bool { return f[:3] == name[:3] })]
		return bad("numbers of 1 or more, as in " + form)
	case make != nil:
		return Spec{Sampler: make(n...)}, nil
	}
	switch name {
	case "cluster":
		return Spec{Sampler: ClusterGCN(), Batch: n[0], Clusters: slices.Max(append(n[1:], 0))}, nil
	case "saint":
		return Spec{Sampler: SAINT(n[1]), Batch: n[0]}, nil
	case "shadow":
		return Spec{Sampler: ShaDow(n[0], n[1])}, nil
	}
	return Spec{Sampler: PinSAGE(n[0], n[1], n[2], n[3])}, nil
}

// numbers reads whole numbers of 1 or more, separated by commas or x.
func numbers(text string) (list []int, err error) {
	if text == "" {
		return nil, nil
	}
	for f := range strings.SplitSeq(strings.ReplaceAll(text, "x", ","), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of 1 or more", f)
		}
		list = append(list, n)
	}
	return list, nil
}

// parseWalk reads a sampler of walks; ok tells whether it is one.
func parseWalk(name, rest string, steps int) (s Sampler, ok bool, err error) {
	switch name {
	case "deepwalk":
		s = DeepWalk(steps)
	case "node2vec":
		settings, err := assigned(rest, "p", "q")
		if err != nil {
			return s, true, err
		}
		if !(settings["p"] > 0 && settings["q"] > 0) {
			return s, true, fmt.Errorf("p is %v and q is %v: both are above 0", settings["p"], settings["q"])
		}
		s = Node2vec(steps, float32(settings["p"]), float32(settings["q"]))
	case "ppr":
		stop, err := strconv.ParseFloat(rest, 32)
		if err != nil || !(stop > 0 && stop <= 1) {
			return s, true, fmt.Errorf("want the probability to stop, above 0 and up to 1, as in ppr:0.15")
		}
		if s = PPR(float32(stop)); steps > 0 {
			s.Steps = steps
		}
		return s, true, nil
	case "multirw":
		n, err := numbers(rest)
		if err != nil || len(n) != 1 {
			return s, true, fmt.Errorf("want the number of roots, as in multirw:100")
		}
		s = MultiRW(n[0], steps)
	default:
		return s, false, nil
	}
	if steps < 1 {
		return s, true, fmt.Errorf("%d steps: walks of this kind have a length of 1 or more", steps)
	}
	if name == "deepwalk" && rest != "" {
		return s, true, fmt.Errorf("deepwalk has no settings")
	}
	return s, true, nil
}

// longest is Spec.Longest of ppr with the probability to stop that rest is.
func longest(text, rest string) (int, error) {
	stop, err := strconv.ParseFloat(rest, 64)
	if err != nil {
		return 0, err
	}
	const rare = 40 // (1-stop)ⁿ is e**-40 at about n = 40/stop
	if n := rare / stop; n <= maxSteps {
		return int(n) + 1, nil
	}
	return 0, fmt.Errorf("sampler %q: its walks have %.3g steps on average, and some of them more than %d, which are the most: bound them (--length), or stop with a probability of %.2g or more", text, 1/stop-1, maxSteps, float64(rare)/maxSteps)
}

// assigned reads settings such as p=2,q=0.5. Settings that the text does not name are 1.
func assigned(text string, names ...string) (map[string]float64, error) {
	got := map[string]float64{}
	for f := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(f, "=")
		x, err := strconv.ParseFloat(value, 32)
		switch _, twice := got[name]; {
		case text == "":
			continue
		case err != nil || math.IsInf(x, 0) || !slices.Contains(names, name):
			return nil, fmt.Errorf("%q: settings are %s, as in p=2,q=0.5", f, strings.Join(names, " and "))
		case twice:
			return nil, fmt.Errorf("%s stands twice", name)
		}
		got[name] = x
	}
	for _, n := range names {
		if _, ok := got[n]; !ok {
			got[n] = 1
		}
	}
	return got, nil
}
