package cuda

import _ "embed"

// roundsText is the kernel of walks without a bound. A lane whose walk has ended takes the next one of its warp, which has read where that one begins long
// before, so that lanes are idle at the end only. A turn is four steps; what lanes add in a turn lies side by side, and the room of a warp is its turns one after the other.
// So a walk lies in the places of its lane, from where place says. A warp that has no room left lists its walks, and all that no
// warp has taken, for the next launch. The order of walks over lanes and of the list is that of threads; walks are named by their numbers.
//
// taken: walks, walks that are listed, and whether one has bound steps.
//
//go:embed rounds.cu
var roundsText string

// roundTurn is one of four steps; %[1]d is which of those that share random words, of which turn %[2]d is the first.
const roundTurn = `
		if (on) {
			%[3]s
			f.step = step++;
			f.at = e.far;
			f.lo = e.lo;
			f.degree = e.degree;
			if (e.far != NONE && e.degree > 0) {
				e = next<%[1]d>(g, f, w);
				enter(g, e);
			} else
				e = no_end();
			f.before = f.at;
			added[%[2]d] = e.far;
			f.length += e.far != NONE;
		}
`
