// Command gen writes the assembly of package simd and the Go files that call
// it. Run it through "go generate" in that package.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// kernel is an assembly function that exists for some of the levels.
type kernel struct {
	name, params string
	avx512       bool // else AVX2 serves both levels
	manual       bool // called by hand-written Go, not through a dispatch function
	emit         func(e *emitter)
}

// family is the kernels of one assembly file.
type family struct {
	file    string
	kernels []kernel
}

func main() {
	dir := flag.String("dir", "..", "folder of package simd")
	flag.Parse()
	families := []family{
		{"elem", elementwise(elemKernels())},
		{"math", elementwise(mathKernels())},
		{"gather", gatherKernels()},
		{"rows", rowKernels()},
		{"gemm", gemmKernels()},
		{"philox", philoxKernels()},
	}
	if err := generate(*dir, families); err != nil {
		slog.Error("generate", "err", err)
		os.Exit(1)
	}
}

// elementwise makes kernels of element-wise ones.
func elementwise(in []elemKernel) (out []kernel) {
	for _, g := range in {
		out = append(out, kernel{name: g.name, params: g.params, avx512: true, emit: g.emit})
	}
	return out
}

// generate writes the files of all families and the dispatch.
func generate(dir string, families []family) error {
	for _, f := range families {
		if err := f.write(dir); err != nil {
			return fmt.Errorf("%s: %w", f.file, err)
		}
	}
	return writeDispatch(dir, families)
}

// write writes the assembly and its declarations.
func (f family) write(dir string) error {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64,!noasm")
	pool := map[uint32]operand.Mem{}
	labels := 0
	for _, k := range f.kernels {
		for _, wide := range []bool{false, true} {
			if wide && !k.avx512 {
				continue
			}
			e := &emitter{Context: ctx, wide: wide, pool: pool, labels: labels}
			k.emit(e)
			labels = e.labels
		}
	}
	file, err := ctx.Result()
	if err != nil {
		if list, ok := err.(build.ErrorList); ok {
			build.LogError(log.Default(), list, 20)
		}
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	cfg := printer.Config{Argv: []string{"go", "generate"}, Name: "gen", Pkg: "simd"}
	for name, p := range map[string]printer.Printer{
		f.file + "_amd64.s":  printer.NewGoAsm(cfg),
		f.file + "_amd64.go": printer.NewStubs(cfg),
	} {
		text, err := p.Print(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.TrimLeft(text, "\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
