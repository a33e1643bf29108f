package dataflow

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Lines of the user's, for errors.

// engine are the packages whose frames are not the user's.
var engine = []string{"sagann/dataflow.", "sagann/ops.", "sagann/saga."}

// Caller is file:line of the first frame outside the engine, for errors found while
// tracing.
func Caller() string { return caller() }

func caller() string { return outside(3) }

// Panicked is file:line of what panicked, or of the first of its callers that is neither
// the engine nor of Go's own packages. It is called by a deferred function that recovers.
func Panicked() string { return outside(3) }

// FuncPos is file:line of the beginning of function f.
func FuncPos(f any) string {
	file, line := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).FileLine(reflect.ValueOf(f).Pointer())
	return place(file, line)
}

// outside is file:line of the first frame outside the engine, skip frames up. Of a stack
// that panics it leaves out Go's own packages, too: their folder is that of the function
// that panics.
func outside(skip int) string {
	var pc [64]uintptr
	fr := runtime.CallersFrames(pc[:runtime.Callers(skip, pc[:])])
	root := ""
	for {
		f, more := fr.Next()
		if f.Function == "runtime.gopanic" {
			root = strings.TrimSuffix(f.File, "runtime/panic.go")
		}
		inside := strings.HasPrefix(f.Function, "runtime.") || root != "" && strings.HasPrefix(f.File, root)
		for _, p := range engine {
			inside = inside || strings.HasPrefix(f.Function, p)
		}
		if !inside || strings.HasSuffix(f.File, "_test.go") {
			return place(f.File, f.Line)
		}
		if !more {
			return "?"
		}
	}
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }
