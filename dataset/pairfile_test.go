package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTypedPairs: pairs of a relation are read by the ids of both types; what evaluation and prediction write is read; what cannot be meant is refused.
func TestTypedPairs(t *testing.T) {
	h := shop(map[string]func(int) bool{"<bought_by": func(int) bool { return true }})
	var items, users []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		items, users = append(items, "i"+name), append(users, "u"+name)
	}
	h.Types[0].Rows.Vertices.Names, h.Types[1].Rows.Vertices.Names = items, users[:10]
	names, numbers := h.Along(0), shop(nil).Along(0)
	triples := triplesData()
	for _, c := range []struct {
		d     *Data
		types bool
		text  string
		want  [3][]uint32 // sources, targets, types
		left  string
		err   string
	}{
		{names, false, "ub,ic\nuc,ib\n", [3][]uint32{{1, 2}, {12, 11}, nil}, "", ""},
		{names, false, "user,item\nub,ic\n", [3][]uint32{{1}, {12}, nil}, "", ""},
		{names, false, "source,target,label,probability\nub,ic,1,0.5\n", [3][]uint32{{1}, {12}, nil}, "label, probability", ""},
		{names, false, "src,dst,probability\nub,ic,0.5\n", [3][]uint32{{1}, {12}, nil}, "probability", ""},
		{names, false, "item,user\nic,ub\n", [3][]uint32{}, "", `the heading has "item", "user"; pairs are of types user, item, in this order`},
		{names, false, "ib,uc\n", [3][]uint32{}, "", `"ib" is not a vertex (type user)`},
		{names, false, "ub,il\nub,uc\n", [3][]uint32{}, "", `p.csv:2: "uc" is not a vertex (type item)`},
		{names, false, "ub,ic,1,0.5\n", [3][]uint32{}, "", "4 columns; want 2 or 3"},
		{names, false, "user,item,weight\nub,ic,2\n", [3][]uint32{}, "", "a third column of pairs has times"},
		{numbers, false, "9,11\n0,0\n", [3][]uint32{{9, 0}, {21, 10}, nil}, "", ""},
		{numbers, false, "10,11\n", [3][]uint32{}, "", "(type user)"},
		{numbers, false, "9,12\n", [3][]uint32{}, "", "(type item)"},
		{triples, true, "source,relation,target,label,probability\n0,sees,1,1,0.7\n2,eats,3,0,0.1\n", [3][]uint32{{0, 2}, {1, 3}, {1, 0}}, "label, probability", ""},
		{triples, true, "0 sees 1\n", [3][]uint32{{0}, {1}, {1}}, "", ""},
		{triples, true, "0,1\n", [3][]uint32{}, "", "2 columns; want 3 columns: source, relation and target"},
		{triples, true, "source,target,probability\n0,1,0.3\n", [3][]uint32{}, "", "2 columns beside probability; want 3"},
		{triples, true, "0,hears,1\n", [3][]uint32{}, "", `relation "hears"`},
		{triples, true, "0,sees,6\n", [3][]uint32{}, "", "p.csv:1"},
		{triples, true, "source,target,relation\n0,1,sees\n", [3][]uint32{}, "", `"target" as column 2`},
	} {
		p, left, err := ReadPairs(filepath.Join(writeFiles(t, map[string]string{"p.csv": c.text}), "p.csv"), c.d, c.types)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(p.Src, c.want[0]) || !slices.Equal(p.Dst, c.want[1]) || !slices.Equal(p.Type, c.want[2]) || p.Time != nil || strings.Join(left, ", ") != c.left {
			t.Errorf("%q: %v, %v, %v", c.text, p, left, err)
		}
	}
}
