package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Links of all relations of a graph whose edges have types: pairs have types, too, as the triples of knowledge graphs have.

// triple is an edge with its type.
type triple struct{ u, v, typ uint32 }

// fact is what t tells: the two ends and, for the types of edges that tell the same, turned round or not, one of them.
func (t triple) fact(of []uint32) triple { return triple{min(t.u, t.v), max(t.u, t.v), of[t.typ]} }

func (p *Pairs) triple(k int) triple { return triple{p.Src[k], p.Dst[k], p.Type[k]} }

func (p *Pairs) addTriple(t triple) {
	p.add(t.u, t.v)
	p.Type = append(p.Type, t.typ)
}

// SplitTriples is SplitLinks for edges of all types: an edge and the reverse of the same type, where both exist, are one pair. Edges of types
// that are each other's reverses (TypeReverses, those whose names say so, NAME and rev_NAME, and those of which one has all edges of the other turned round) go to the
// same part, and all are predicted. Each pair without an edge of any type has the type of the edge with its number.
func SplitTriples(d *Data, s LinkShares, seed uint64, reverses ...[2]int) (*Data, error) {
	if err := typed(d); err != nil {
		return nil, err
	}
	of, _, _ := typeFacts(d, reverses)
	if !(s.Val > 0 && s.Test > 0 && s.Val+s.Test < 1) || s.Disjoint != 0 {
		return nil, fmt.Errorf("%s: shares %v and %v of the edges: each must be above 0, together below 1; and %v of the training edges without messages: none with edges of all types", d.Name, s.Val, s.Test, s.Disjoint)
	}
	e, seen, at := d.Edges, map[triple]bool{}, map[triple]int{}
	var list [][]triple // by fact
	for k, u := range e.Src {
		t := triple{u, e.Dst[k], e.Type[k]}
		if u == t.v || seen[t] || seen[triple{t.v, t.u, t.typ}] {
			continue
		}
		seen[t] = true
		if i, is := at[t.fact(of)]; is {
			list[i] = append(list[i], t)
			continue
		}
		at[t.fact(of)] = len(list)
		list = append(list, []triple{t})
	}
	r := rand.New(rand.NewPCG(seed, linkStream))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	a, b := int(s.Val*float64(len(list))), int(s.Test*float64(len(list)))
	if a == 0 || b == 0 || a+b == len(list) {
		return nil, fmt.Errorf("%s: %d edges are too few: %d are for validation, %d for testing, and the rest for training", d.Name, len(list), a, b)
	}
	split := &LinkSplit{}
	for i, same := range list {
		to := &split.Train
		switch {
		case i < a:
			to = &split.Val
		case i < a+b:
			to = &split.Test
		}
		for _, t := range same {
			to.addTriple(t)
		}
	}
	return UseTriples(d, split, seed, reverses...)
}

func typed(d *Data) error {
	if d.Edges.Type == nil {
		return fmt.Errorf("%s: the edges have no types: links of all relations are those of a graph of one type of vertices whose edges have types (saga data convert --edge-type)", d.Name)
	}
	return nil
}

// UseTriples is SplitTriples with a split that is given. A triple that stands twice stays where it is first; one of a vertex and itself is left
// out. An edge passes messages if it or its reverse, of the same type or of one that is the reverse, is for training, or if neither is in the split.
func UseTriples(d *Data, s *LinkSplit, seed uint64, reverses ...[2]int) (*Data, error) {
	if err := typed(d); err != nil {
		return nil, err
	}
	out, l := *d, &Links{Types: d.Edges.Types}
	out.Report.Changes, out.Report.Warnings = slices.Clone(d.Report.Changes), slices.Clip(d.Report.Warnings)
	of, all, found := typeFacts(d, reverses)
	for _, p := range found {
		out.Report.Changes = append(out.Report.Changes, fmt.Sprintf("%s has the edges of %s turned round: it is taken for its reverse", TypeName(d, p[1]), TypeName(d, p[0])))
	}
	l.Reverses = all
	settleTriples(&out, s, l)
	parts := partsOf(&out, l, of)
	if l.Train.Len() == 0 || l.Test.Len() == 0 {
		return nil, fmt.Errorf("%s: the split of links has %d edges for training and %d for testing; it needs some of both", d.Name, l.Train.Len(), l.Test.Len())
	}
	e := d.Edges
	out.Edges = selected(e, func(k int) bool {
		in := parts[triple{e.Src[k], e.Dst[k], e.Type[k]}.fact(of)]
		return in&1 != 0 || in == 0
	})
	if out.Edges.E() == 0 {
		return nil, fmt.Errorf("%s: no edge of the graph is left to pass messages in training", d.Name)
	}
	src, dst := slices.Concat(e.Src, l.Train.Src, l.Val.Src, l.Test.Src), slices.Concat(e.Dst, l.Train.Dst, l.Val.Dst, l.Test.Dst)
	ends := endsOf(indexEdges(e.V, src, dst))
	free := ends.complement(e.V, src, dst)
	if free.Count() == 0 {
		return nil, fmt.Errorf("%s: every pair of vertices has an edge that could have one: there is none without to tell edges from", d.Name)
	}
	r := rand.New(rand.NewPCG(seed, linkStream))
	l.NotVal, l.NotTest = free.draw(r, l.Val.Len()), free.draw(r, l.Test.Len())
	l.NotVal.Type, l.NotTest.Type = l.Val.Type, l.Test.Type
	predictLinks(&out, l, ends)
	return &out, nil
}

// settleTriples gives l the triples of s, each once, without those of a vertex and itself.
func settleTriples(d *Data, s *LinkSplit, l *Links) {
	seen, loops, twice := map[triple]bool{}, 0, 0
	for _, x := range [][2]*Pairs{{&s.Train, &l.Train}, {&s.Val, &l.Val}, {&s.Test, &l.Test}} {
		for k := range x[0].Src {
			switch t := x[0].triple(k); {
			case t.u == t.v:
				loops++
			case seen[t]:
				twice++
			default:
				seen[t] = true
				x[1].addTriple(t)
			}
		}
	}
	if loops > 0 {
		d.change("%d {edge|edges} of the split of links {joins a vertex and itself|join a vertex and itself}: left out, as self loops only pass messages", loops)
	}
	if twice > 0 {
		d.change("%d {edge stands|edges stand} in the split of links more than once: each stays where it is first, in training, validation or testing", twice)
	}
}

// partsOf says of each fact of l in which parts it is: 1 for training, 2 for validation, 4 for testing. It warns of edges of validation and
// testing that an earlier part tells by another type.
func partsOf(d *Data, l *Links, of []uint32) map[triple]uint8 {
	parts, types := map[triple]uint8{}, make([]int, len(of))
	for _, t := range of {
		types[t]++
	}
	n := 0
	for i, p := range []*Pairs{&l.Train, &l.Val, &l.Test} {
		for k := range p.Src {
			t := p.triple(k).fact(of)
			if parts[t]&(1<<i-1) != 0 && types[t.typ] > 1 {
				n++
			}
			parts[t] |= 1 << i
		}
	}
	if n > 0 {
		d.warn("%s: %d {edge of validation or testing is told by an earlier part of the split, turned round or as another relation|edges of validation or testing are told by earlier parts of the split, turned round or as other relations}: the model sees what it is to predict", d.Name, n)
	}
	return parts
}

// ReadTriples reads a split of the edges of d, which have types, from the files of dir: train, val and test (.csv, .tsv, .txt), with source,
// relation and target on each line. Relations are their names in the data or, where they have none, their numbers.
func ReadTriples(dir string, d *Data) (*LinkSplit, error) {
	if err := typed(d); err != nil {
		return nil, err
	}
	number := typeNumbers(d)
	s := &LinkSplit{}
	for i, to := range []*Pairs{&s.Train, &s.Val, &s.Test} {
		path := partFile(dir, partStems[i]...)
		if path == "" {
			return nil, fmt.Errorf("%s: no %s.csv (.tsv, .txt): a split of edges with types is a folder with train, val and test, each with source, relation and target", dir, partStems[i][0])
		}
		if err := readTriples(d, path, number, to); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func readTriples(d *Data, path string, number map[string]uint32, to *Pairs) error {
	ids := d.finder()
	f, err := d.fileOf(path, ids, nil, 3)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.endsAt(0, 2); err != nil {
		return err
	}
	return f.eachRow(func(row [][]byte) error {
		u, err := ids.find(row[0], d.Edges.V)
		v, no := ids.find(row[2], d.Edges.V)
		if err = errors.Join(err, no); err != nil {
			return f.errorf("%w", err)
		}
		typ, err := typeOf(number, row[1])
		if err != nil {
			return f.errorf("%w", err)
		}
		to.addTriple(triple{u, v, typ})
		return nil
	})
}
