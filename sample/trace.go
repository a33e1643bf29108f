package sample

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// tracer runs a sampler's function once, on symbols.
type tracer struct {
	g      *Graph
	s      *Sampler
	list   []instruction
	first  int    // site of the first draw
	sites  int    // site of the next draw
	reject int32  // instruction of the Reject whose body is being traced; -1 outside
	loops  int    // calls of Reject so far
	method Method // of PickWeighted
	sets   string // file and line of the last Set; "" without one
	after  bool   // the function is EdgeWeight, which runs after the draws
	ended  bool   // the function has returned: its symbols are invalid
}

// traceError says what is wrong with a sampler's function, and at which file and line.
type traceError struct{ at, what string }

func (e *traceError) Error() string { return e.at + ": " + e.what }

// refuse stops the trace with an error.
func refuse(format string, args ...any) { panic(&traceError{caller(), fmt.Sprintf(format, args...)}) }

// funcAt is the file and line of a function of the user.
func funcAt(f any) string {
	at := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	if at == nil {
		return "unknown"
	}
	file, line := at.FileLine(at.Entry())
	return fmt.Sprintf("%s:%d", file[strings.LastIndexByte(file, '/')+1:], line)
}

// trace runs f, which calls the user's function on symbols, and returns the traced code. Its draws
// get the sites from first on.
func (t *tracer) trace(first int, user any, f func() symbol) (c *code, err error) {
	defer func() {
		t.ended = true
		switch r := recover().(type) {
		case nil:
		case *traceError:
			c, err = nil, fmt.Errorf("sampler %s: %w", t.s.Name, r)
		default:
			c, err = nil, fmt.Errorf("sampler %s: its function panicked: %v", t.s.Name, r)
		}
	}()
	t.first, t.sites, t.reject = first, first, -1
	returned := f()
	if why := t.foreign(returned); why != "" {
		panic(&traceError{funcAt(user), why})
	}
	result := t.of(returned)
	c = &code{list: t.list, at: funcAt(user), result: result, sites: t.sites - first, pack: 1}
	if n := c.sites; t.loops == 0 && first == 0 && (n == 1 || n == 2) {
		c.pack = 4 / n
	}
	return c, nil
}

// foreign says why a symbol is invalid in this trace; "" if it is valid. A symbol can be Go's zero
// value: a variable that another function sets, if that function is traced later.
func (t *tracer) foreign(s symbol) string {
	switch {
	case s.t == nil && !s.set:
		return "a value that nothing has set in this function: literals are Whole and Const, and a value belongs to the function that made it"
	case s.t != nil && s.t != t:
		return "a value of another function, or of another call of this one"
	}
	return ""
}

// of is the number of the instruction that computes a symbol. Equal literals share one.
func (t *tracer) of(s symbol) int32 {
	if why := t.foreign(s); why != "" {
		refuse("%s", why)
	}
	if s.t == t {
		return s.n
	}
	for i, l := range t.list {
		if l.op == opLit && l.imm == s.lit && l.real == s.real {
			return int32(i)
		}
	}
	t.list = append(t.list, instruction{op: opLit, imm: s.lit, real: s.real})
	return int32(len(t.list) - 1)
}

func (t *tracer) emit(o op, imm int64, args ...symbol) symbol {
	if t.ended {
		refuse("a value is used after its function has returned")
	}
	x := instruction{op: o, imm: imm, at: caller()}
	for i, to := range []*int32{&x.a, &x.b, &x.c}[:len(args)] {
		*to = t.of(args[i])
	}
	t.list = append(t.list, x)
	return symbol{t: t, n: int32(len(t.list) - 1)}
}

// column is k, or refuses a column that numbers of edges do not have.
func (t *tracer) column(k int) int64 {
	if k < 0 || k >= t.g.cols {
		refuse("column %d of the numbers of edges, which have %d", k, t.g.cols)
	}
	return int64(k)
}

// maxSites bounds the draws of a function. Those of Transits begin at maxSites.
const maxSites = 256

// site reserves n sites for draws and returns the first.
func (t *tracer) site(n int) int64 {
	first := t.sites
	if t.sites += n; t.sites-t.first > maxSites-8 {
		refuse("more than %d draws in one function", maxSites-8)
	}
	return int64(first)
}

// rejected traces the body of a Reject. Its draws share no Philox counter with draws outside: its
// sites begin and end at multiples of 4.
func (t *tracer) rejected(body func() (symbol, symbol)) symbol {
	if t.reject >= 0 {
		refuse("a Reject inside a Reject: one loop must do")
	}
	t.loops++
	t.sites = (t.sites + 3) &^ 3
	before := t.sites
	loop := t.emit(opReject, 0)
	t.reject = loop.n
	value, accept := body()
	if t.sites == before {
		refuse("a Reject that draws nothing never ends, or ends at once")
	}
	end := t.emit(opAccept, 0, value, accept)
	t.list[loop.n].imm = int64(end.n)
	t.sites, t.reject = (t.sites+3)&^3, -1
	return loop
}

// caller is the file and line of the innermost call from the user's function.
func caller() string {
	var pc [32]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "sagann/sample.") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}
