package dataflow

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
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
// that panics, or none in a build with -trimpath.
func outside(skip int) string {
	var pc [64]uintptr
	fr := runtime.CallersFrames(pc[:runtime.Callers(skip, pc[:])])
	root, panicked := "", false
	for {
		f, more := fr.Next()
		if f.Function == "runtime.gopanic" {
			root, panicked = strings.TrimSuffix(f.File, "runtime/panic.go"), true
		}
		inside := strings.HasPrefix(f.Function, "runtime.") || root != "" && strings.HasPrefix(f.File, root) || panicked && root == "" && standard(f.File)
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

// standard says whether a file of a build with -trimpath, whose name begins with the import
// path of its package, is of Go's own packages: those have no dot in their first element,
// nor are they of the module that is built.
func standard(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	b, ok := debug.ReadBuildInfo()
	return ok && b.Main.Path != "" && !strings.Contains(first, ".") && !strings.HasPrefix(file, b.Main.Path+"/")
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }
