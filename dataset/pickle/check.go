package pickle

import (
	"errors"
	"fmt"
	"unsafe"
)

// maxDepth bounds the nesting of values.
const maxDepth = 64

var (
	errCycle = errors.New("malformed pickle: a value that holds itself")
	errDeep  = fmt.Errorf("malformed pickle: nests more than %d deep", maxDepth)
)

// checker looks for cycles and deep nesting. Values may be shared, so there can be far more paths than values; each
// container is looked at once.
type checker struct {
	depth map[unsafe.Pointer]int // of the containers that were looked at; 0 while that goes on
}

// check returns an error if x holds itself or nests too deep. PyG's storages name their parent; readers do not go there.
func check(x any) error {
	c := checker{map[unsafe.Pointer]int{}}
	_, err := c.depthOf(x, 0)
	return err
}

// depthOf is how deep x nests: 0 for a value that is no container. It lies at the depth at.
func (c *checker) depthOf(x any, at int) (depth int, err error) {
	id, parts := children(x)
	if len(parts) == 0 {
		return 0, nil
	}
	if at == maxDepth {
		return 0, errDeep
	}
	if known, seen := c.depth[id]; seen {
		switch {
		case known == 0:
			return 0, errCycle
		case at+known > maxDepth:
			return 0, errDeep
		}
		return known, nil
	}
	c.depth[id] = 0
	for _, part := range parts {
		for i := range part.n() {
			below, err := c.depthOf(part.at(i), at+1)
			if err != nil {
				return 0, err
			}
			depth = max(depth, below)
		}
	}
	c.depth[id] = depth + 1
	return depth + 1, nil
}

// part is some of what a container holds: items, or pairs.
type part struct {
	items []any
	pairs []Pair
}

func (p *part) n() int { return len(p.items) + 2*len(p.pairs) }

func (p *part) at(i int) any {
	if i < len(p.items) {
		return p.items[i]
	}
	pair := &p.pairs[(i-len(p.items))/2]
	switch {
	case (i-len(p.items))%2 == 0:
		return pair.Key
	case pair.Key == "_parent":
		return nil
	}
	return pair.Value
}

// children lists what a container holds, and gives its identity. Without children there are no parts.
func children(x any) (id unsafe.Pointer, parts []part) {
	switch x := x.(type) {
	case Tuple:
		if len(x) > 0 {
			return unsafe.Pointer(unsafe.SliceData(x)), []part{{items: x}}
		}
	case *List:
		if len(x.Items) > 0 {
			return unsafe.Pointer(x), []part{{items: x.Items}}
		}
	case *Dict:
		if len(x.Pairs) > 0 {
			return unsafe.Pointer(x), []part{{pairs: x.Pairs}}
		}
	case Persistent:
		return children(x.ID)
	case *Record:
		return unsafe.Pointer(x), []part{{items: x.Args}, {items: []any{x.State}}, {items: x.Items, pairs: x.Pairs}}
	}
	return nil, nil
}
