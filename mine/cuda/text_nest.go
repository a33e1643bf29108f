package cuda

import (
	"fmt"
	"slices"
	"strings"

	"sagann/mine/pattern"
	"sagann/mine/plan"
)

// nest is the text of the kernel that runs the loops of a plan. A warp does a task: a
// root with some of its neighbours. The loops are those of package run. A loop checks 32
// candidates at a time, and binds those that fit one after the other.
func nest(p *plan.Plan, out output) string {
	b := &nester{Plan: p, out: out, size: plan.None}
	for i, s := range p.Sets {
		if s.Base != plan.None {
			b.room = append(b.room, i)
		}
	}
	b.countOnly()
	fmt.Fprintf(&b.text, "%s%s#define SETS %d\n#define WIDTH %d\n", prelude, nestSets, len(b.room), p.Pattern.Vertices())
	kind := outputs[out]
	b.text.WriteString(kind.state)
	fmt.Fprintf(&b.text, nestHead, kind.args)
	b.line("do {")
	if f := b.fits(0); f != "" {
		b.line("u32 x0 = v0;")
		b.line("if (!(%s)) break;", f)
	}
	if b.Pair != plan.NoPair && b.Last() == 2 {
		b.pair()
	} else {
		b.loop(1)
	}
	b.line("} while (0);")
	b.text.WriteString(kind.tail)
	return b.text.String()
}

const nestHead = `
#define HUB(l) (hub ? (const u32 *)hub[v##l] : 0)
extern "C" __global__ void __launch_bounds__(256) saga_nest(const Row *rows, const int *label, const u32 *id, const u64 *hub, const Task *tasks,
		u64 *state, u64 *next, u64 lo, u64 hi, u64 step, u32 *scratch, u64 room, %s) {
	u32 lane = threadIdx.x & 31;
	u64 worker = blockIdx.x * (u64)(blockDim.x >> 5) + (threadIdx.x >> 5);
	u32 *own = scratch + worker * SETS * room;
	Sum sum = {0, 0};
	(void)own; (void)hub; (void)label; (void)id; (void)sum;
	LIST_BEGIN
	for (;;) {
		u64 at = lane == 0 ? next_task(state, next, lo, hi, step) : 0;
		at = __shfl_sync(ALL, at, 0);
		if (at == ~0ull)
			break;
		Task task = tasks[at];
		u32 v0 = task.root;
		Row r0 = rows[v0];
		const u32 *h0 = HUB(0);
		TASK_BEGIN
`

// nester renders a plan.
type nester struct {
	*plan.Plan
	text strings.Builder
	out  output
	room []int // sets that are made, in the order of their memory
	size int   // the set that is counted and not made, or plan.None
}

func (b *nester) line(format string, a ...any) {
	fmt.Fprintf(&b.text, "\t\t"+format+"\n", a...)
}

// countOnly finds the set of the last level that need not be made; see package run.
func (b *nester) countOnly() {
	if b.out != totals || b.Loops() != b.Last() {
		return
	}
	i := b.Levels[b.Last()].From
	for _, s := range b.Sets {
		if s.Base == i {
			return
		}
	}
	if s := b.Sets[i]; s.Base != plan.None && s.Level == b.Last()-1 {
		b.size = i
	}
}

// set is the expression for a set, a List.
func (b *nester) set(i int) string {
	if s := b.Sets[i]; s.Base == plan.None {
		return fmt.Sprintf("whole(r%d, h%[1]d)", s.Of)
	}
	return fmt.Sprintf("s%d", i)
}

// within renders code that cuts the list called name to a window.
func (b *nester) within(name string, above, below []int) {
	if len(above) > 0 {
		b.line("%s = from(%s, %s + 1, lane);", name, name, extreme("max", above))
	}
	if len(below) > 0 {
		b.line("%s = upto(%s, %s, lane);", name, name, extreme("min", below))
	}
}

// extreme is the expression for the largest or smallest (f) vertex of some levels.
func extreme(f string, levels []int) string {
	x := fmt.Sprintf("v%d", levels[0])
	for _, m := range levels[1:] {
		x = fmt.Sprintf("%s(%s, v%d)", f, x, m)
	}
	return x
}

// fits is the condition that a candidate x of a level must fulfil in addition to its window; "" for none.
func (b *nester) fits(l int) string {
	level := &b.Levels[l]
	var all []string
	if level.Label != pattern.AnyLabel {
		all = append(all, fmt.Sprintf("label[x%d] == %d", l, level.Label))
	}
	for _, m := range level.Apart {
		all = append(all, fmt.Sprintf("x%d != v%d", l, m))
	}
	if level.Degree > 1 {
		all = append(all, fmt.Sprintf("rows[x%d].degree >= %d", l, level.Degree))
	}
	for _, e := range level.Where {
		all = append(all, b.expr(e, l))
	}
	return strings.Join(all, " && ")
}

// loop renders level l, at least 1, and all within it.
func (b *nester) loop(l int) {
	level := &b.Levels[l]
	b.line("List c%d = %s;", l, b.set(level.From))
	if l == 1 {
		b.line("if (task.hi) { c1.at += task.lo; c1.n = task.hi - task.lo; }")
	}
	b.within(fmt.Sprintf("c%d", l), level.Above, level.Below)
	if l == b.Last() && b.out == totals && level.Label == pattern.AnyLabel && len(level.Where) == 0 {
		b.line("{ u32 k = c%d.n%s;", l, b.among(fmt.Sprintf("c%d", l), level.Apart))
		b.line("if (lane == 0) add(sum, k); }")
		return
	}
	b.line("for (u32 j%[1]d = 0; j%[1]d < c%[1]d.n; j%[1]d += 32) {", l)
	if l == 1 {
		b.line("if (__any_sync(ALL, stopped(state))) STOP")
	}
	b.line("bool ok%[1]d = j%[1]d + lane < c%[1]d.n;", l)
	b.line("u32 x%[1]d = ok%[1]d ? c%[1]d.at[j%[1]d + lane] : 0;", l)
	if f := b.fits(l); f != "" {
		b.line("ok%[1]d = ok%[1]d && %[2]s;", l, f)
	}
	switch {
	case l == b.Last() && b.out != totals:
		b.emit()
	case l == b.Last():
		b.line("add(sum, ok%d);", l)
	default:
		b.line("for (u32 m%[1]d = __ballot_sync(ALL, ok%[1]d); m%[1]d; m%[1]d &= m%[1]d - 1) {", l)
		b.line("u32 v%[1]d = __shfl_sync(ALL, x%[1]d, __ffs(m%[1]d) - 1);", l)
		b.line("Row r%[1]d = rows[v%[1]d]; (void)r%[1]d;", l)
		b.line("const u32 *h%[1]d = HUB(%[1]d); (void)h%[1]d;", l)
		b.body(l)
		b.line("}")
	}
	b.line("}")
}

// body renders what is done when level l is bound.
func (b *nester) body(l int) {
	for _, i := range b.Levels[l].Make {
		if i == b.size {
			b.countSet(i)
		} else {
			b.makeSet(i)
		}
	}
	switch {
	case l+1 == b.Last() && b.size != plan.None:
	case l+2 == b.Last() && b.Pair != plan.NoPair:
		b.pair()
	default:
		b.loop(l + 1)
	}
}

// makeSet renders code that makes set i, and goes on with the next candidate if it is empty.
func (b *nester) makeSet(i int) {
	s := &b.Sets[i]
	name := fmt.Sprintf("s%d", i)
	b.line("List %s = %s;", name, b.set(s.Base))
	b.within(name, s.Above, s.Below)
	to := fmt.Sprintf("own + %d * room", slices.Index(b.room, i))
	if s.Minus {
		b.line("%[1]s.n = keep(%[2]s, %[1]s, whole(r%[3]d, h%[3]d), true, lane);", name, to, s.Of)
	} else {
		b.line("%[1]s.n = intersect(%[2]s, %[1]s, whole(r%[3]d, h%[3]d), lane);", name, to, s.Of)
	}
	b.line("if (%s.n == 0) continue;", name)
	b.line("%s.at = %s; %s.bits = 0;", name, to, name)
}

// countSet renders code that counts the candidates of the last level without making their set.
func (b *nester) countSet(i int) {
	s, level := &b.Sets[i], &b.Levels[b.Last()]
	b.line("{ List a = %s, b = whole(r%[2]d, h%[2]d);", b.set(s.Base), s.Of)
	b.within("a", slices.Concat(s.Above, level.Above), slices.Concat(s.Below, level.Below))
	b.line("u32 k = overlap(a, b, lane);")
	if s.Minus {
		b.line("take(sum, k); if (lane == 0) add(sum, a.n);")
	} else {
		b.line("add(sum, k);")
	}
	for _, m := range level.Apart {
		b.line("{ u32 k = has(a, v%d, lane) & (has(b, v%d, lane) ^ %d); if (lane == 0) take(sum, k); }", m, m, map[bool]int{true: 1}[s.Minus])
	}
	b.line("}")
}

// among is an expression that subtracts how many of the levels' vertices are in the list.
func (b *nester) among(list string, levels []int) string {
	x := ""
	for _, m := range levels {
		x += fmt.Sprintf(" - has(%s, v%d, lane)", list, m)
	}
	return x
}

// free is the expression for how many members of the list can be the level's vertex; see package run.
func (b *nester) free(list string, level *plan.Level) string {
	if level.Label == pattern.AnyLabel {
		return list + ".n" + b.among(list, level.Apart)
	}
	x := fmt.Sprintf("labelled(%s, label, %d, lane)", list, level.Label)
	for _, m := range level.Apart {
		x += fmt.Sprintf(" - (label[v%d] == %d && has(%s, v%[1]d, lane))", m, level.Label, list)
	}
	return x
}

// pair renders code that counts the last two levels together; see package run.
func (b *nester) pair() {
	x, y := &b.Levels[b.Last()-1], &b.Levels[b.Last()]
	b.line("{ List a = %s;", b.set(x.From))
	b.within("a", x.Above, x.Below)
	b.line("u32 free = %s;", b.free("a", x))
	if b.Pair == plan.Unordered {
		b.line("if (lane == 0 && free) add_product(sum, free, free - 1); }")
		return
	}
	b.line("if (free) {")
	b.line("List b = %s;", b.set(y.From))
	b.within("b", y.Above, y.Below)
	if b.Pair == plan.Unlike {
		b.line("u32 ofY = %s;", b.free("b", y))
		b.line("if (lane == 0) add_product(sum, free, ofY); } }")
		return
	}
	b.line("u32 ofY = b.n, both = 0;")
	for m := range b.Last() - 1 {
		inX, inY := slices.Contains(x.Apart, m), slices.Contains(y.Apart, m)
		if !inX && !inY {
			continue
		}
		b.line("{ u32 inB = has(b, v%d, lane);", m)
		if inY {
			b.line("ofY -= inB;")
		}
		b.line("both += inB & has(a, v%d, lane); }", m)
	}
	b.line("if (lane == 0) { add_product(sum, free, ofY); add(sum, both); }")
	b.line("if (a.at == b.at && a.n == b.n) { if (lane == 0) take(sum, a.n); }")
	b.line("else take(sum, overlap(a, b, lane));")
	b.line("} }")
}

// expr renders a condition that is checked at level l, whose candidate is x.
func (b *nester) expr(e *pattern.Expr, l int) string {
	return exprText(e, func(i int) (v, row string) {
		if at := b.At[i]; at != l {
			return fmt.Sprintf("v%d", at), fmt.Sprintf("r%d", at)
		}
		return fmt.Sprintf("x%d", l), fmt.Sprintf("rows[x%d]", l)
	})
}
