package dataflow

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Lines of the user's program, for errors.

// engine lists the packages whose stack frames are not the user's.
var engine = []string{"sagann/dataflow.", "sagann/ops.", "sagann/saga."}

// Caller is file:line of the first frame outside the engine, for errors found while
// tracing.
func Caller() string { return caller() }

func caller() string { return outside(3) }

// Panicked is file:line of the function that panicked, or of its first caller, that belongs neither
// to the engine nor to Go's standard library. Call it from a deferred function that recovers.
func Panicked() string { return outside(3) }

// FuncPos is file:line of the beginning of function f.
func FuncPos(f any) string {
	file, line := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).FileLine(reflect.ValueOf(f).Pointer())
	return place(file, line)
}

// outside is file:line of the first frame outside the engine, from skip frames up the stack; "?" if
// there is none. On a stack that panics it also skips Go's standard library. It finds the library's
// folder by the file of runtime.gopanic; a build with -trimpath has no such folder.
func outside(skip int) string {
	var pc [64]uintptr
	for _, most := range []int{8, len(pc)} { // most frames of users are near: looking further takes most of the time
		stack := pc[:runtime.Callers(skip, pc[:most])]
		for _, at := range stack {
			switch s := spotOf(at); {
			case s.panics:
				return outsidePanic(pc[:runtime.Callers(skip, pc[:])])
			case s.user != "":
				return s.user
			}
		}
		if len(stack) < most {
			break
		}
	}
	return "?"
}

// spot is what outside asks about a program counter.
type spot struct {
	user   string // file:line of a frame outside the engine; "": it is inside
	panics bool   // it is of runtime.gopanic
}

// spots are those of all program counters that outside has seen.
var spots sync.Map // uintptr: spot

func spotOf(pc uintptr) spot {
	if s, ok := spots.Load(pc); ok {
		return s.(spot)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	s := spot{panics: f.Function == "runtime.gopanic"}
	if !inside(f) {
		s.user = place(f.File, f.Line)
	}
	spots.Store(pc, s)
	return s
}

// inside tells whether a frame belongs to the engine or Go's runtime.
func inside(f runtime.Frame) bool {
	return !strings.HasSuffix(f.File, "_test.go") && (strings.HasPrefix(f.Function, "runtime.") ||
		slices.ContainsFunc(engine, func(p string) bool { return strings.HasPrefix(f.Function, p) }))
}

// outsidePanic is outside for the stack of a panic.
func outsidePanic(stack []uintptr) string {
	fr := runtime.CallersFrames(stack)
	root, panicked := "", false
	for {
		f, more := fr.Next()
		if f.Function == "runtime.gopanic" {
			root, panicked = strings.TrimSuffix(f.File, "runtime/panic.go"), true
		}
		library := root != "" && strings.HasPrefix(f.File, root) || panicked && root == "" && standard(f.File)
		if !inside(f) && (!library || strings.HasSuffix(f.File, "_test.go")) {
			return place(f.File, f.Line)
		}
		if !more {
			return "?"
		}
	}
}

// standard tells whether a file belongs to Go's standard library in a build with -trimpath, where
// a file's name begins with the import path of its package: the path has no dot in its first
// element and is not that of the main module.
func standard(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	b, ok := debug.ReadBuildInfo()
	return ok && b.Main.Path != "" && !strings.Contains(first, ".") && !strings.HasPrefix(file, b.Main.Path+"/")
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }
