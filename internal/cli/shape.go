package cli

import (
	"fmt"
	"strconv"
	"strings"

	"sagann/saga"
)

// ParseShape reads vertices=..,edges=..,features=..,classes=..[,skew=..].
func ParseShape(text string) (saga.Shape, error) {
	var s saga.Shape
	fail := func(format string, a ...any) (saga.Shape, error) {
		return saga.Shape{}, fmt.Errorf("--shape %s: "+format, append([]any{text}, a...)...)
	}
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return fail("%q is not key=value", part)
		}
		if given[key] {
			return fail("%s stands twice", key)
		}
		given[key] = true
		if key == "skew" {
			x, err := strconv.ParseFloat(value, 64)
			if err != nil || !(x >= 0 && x <= 2) {
				return fail("skew %q is not a number from 0 to 2", value)
			}
			s.Skew = x
			continue
		}
		n, err := ParseCount(value)
		if err != nil {
			return fail("%s: %w", key, err)
		}
		limit := int64(1 << 31)
		switch key {
		case "vertices":
			s.Vertices = int(n)
		case "edges":
			s.Edges, limit = n, 1<<45
		case "features":
			s.Features, limit = int(n), 1<<20
		case "classes":
			s.Classes, limit = int(n), 1<<20
		default:
			return fail("unknown key %q; there are vertices, edges, features, classes, skew", key)
		}
		if n > limit || n < 1 && key != "edges" {
			return fail("%s is out of range, 1 to %d", key, limit)
		}
	}
	for _, key := range []string{"vertices", "edges", "features", "classes"} {
		if !given[key] {
			return fail("%s is missing", key)
		}
	}
	return s, nil
}
