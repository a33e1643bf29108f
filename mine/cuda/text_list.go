package cuda

import (
	"fmt"
	"strings"
)

// output is what the loops of a plan write.
//
// A listing is written to blocks of a pool. Word 0 of a block is the number of its words that are
// used. Then come segments: the number of a task, counted from base, the number of its rows, and the
// rows. A warp writes its next task to the same block. A warp takes blocks with ascending
// numbers, so the segments of a task are in order if blocks are read in order. Block 0
// is reserved for the task at base: so a launch makes progress however small the pool is. A
// task that finds no block ends and is marked as not complete. The next launch
// begins with it, and skips the rows that were written.
type output uint8

// The kinds of output.
const (
	totals  output = iota // the number of matches of each warp
	pooled                // matches, in blocks of the pool
	tallied               // the number of matches of each task
	placed                // matches, at places that follow from the numbers of each task
)

// outputs are the texts of each kind: the last parameters of the kernel, its declarations, and
// the ends of a task and of the kernel.
var outputs = [...]struct{ args, state, tail string }{
	totals: {"Sum *out", `
#define LIST_BEGIN
#define TASK_BEGIN
#define STOP break;
`, `	}
	finish(sum, out);
}
`},
	pooled: {"u32 *pool, u64 blocks, u64 words, u64 *taken, u32 *complete, u64 base, u64 skip", `
#define LIST_BEGIN u32 *block = 0, fill = 0, segment; bool all = true;
#define TASK_BEGIN u64 seen = 0, ignore = at == base ? skip : 0; u32 written = 0;
#define STOP { all = false; goto task_end; }
`, `	task_end:
		if (!all)
			break;
		if (lane == 0)
			complete[at - base] = 1;
	}
	if (lane == 0 && block)
		block[0] = fill;
}
`},
	tallied: {"u64 *tally, u64 base", `
#define LIST_BEGIN bool all = true;
#define TASK_BEGIN u64 seen = 0;
#define STOP { all = false; goto task_end; }
`, `	task_end:
		if (!all)
			break;
		if (lane == 0)
			tally[at - base] = seen;
	}
}
`},
	placed: {"u32 *pool, u64 rows_room, const u64 *start, u64 base, u64 skip", `
#define LIST_BEGIN
#define TASK_BEGIN u64 seen = 0, ignore = at == base ? skip : 0, first = start[at - base];
#define STOP goto task_end;
`, `	task_end:
		(void)seen;
	}
}
`},
}

// emit renders the code that writes the candidates of the last level that fit, in order.
func (b *nester) emit() {
	l := b.Last()
	var row strings.Builder
	for i, at := range b.At {
		v := fmt.Sprintf("v%d", at)
		if at == l {
			v = fmt.Sprintf("x%d", l)
		}
		fmt.Fprintf(&row, " to[%d] = id ? id[%s] : %s;", i, v, v)
	}
	b.line("u32 hits = __ballot_sync(ALL, ok%d), some = __popc(hits), rank = __popc(hits & ((1u << lane) - 1));", l)
	switch b.out {
	case tallied:
		b.line("seen += some; (void)rank;")
		return
	case placed:
		b.line("u64 number = seen + rank;")
		b.line("if (ok%d && number >= ignore && first + number - ignore < rows_room) { u32 *to = pool + (first + number - ignore) * WIDTH;%s }", l, row.String())
		b.line("seen += some;")
		b.line("if (seen >= ignore && first + seen - ignore >= rows_room) STOP")
		return
	}
	b.line("u32 drop = ignore > seen ? (u32)min(ignore - seen, (u64)some) : 0;")
	b.line("seen += some; some -= drop;")
	b.line("if (some) {")
	b.line("if (!block || fill + some * WIDTH + (written ? 0 : 2) > words) {")
	b.line("if (lane == 0 && block) block[0] = fill;")
	b.line("u64 k = at == base && !block ? 0 : ~0ull;")
	b.line("if (k) { k = lane == 0 ? 1 + atomicAdd(taken, 1ull) : 0; k = __shfl_sync(ALL, k, 0); }")
	b.line("if (k >= blocks) { block = 0; STOP }")
	b.line("block = pool + k * words; fill = 1; written = 0; }")
	b.line("if (!written) { segment = fill; fill += 2; if (lane == 0) block[segment] = (u32)(at - base); }")
	b.line("if (ok%d && rank >= drop) { u32 *to = block + fill + (rank - drop) * WIDTH;%s }", l, row.String())
	b.line("fill += some * WIDTH; written += some;")
	b.line("if (lane == 0) block[segment + 1] = written; }")
}
