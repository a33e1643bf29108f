package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModule examines this module.
func TestModule(t *testing.T) {
	faults, err := Check(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range faults {
		b.WriteString("\n" + f.String())
	}
	if len(faults) > 0 {
		t.Errorf("%d faults:%s", len(faults), &b)
	}
}

// TestTable checks the rules against themselves: every part named on the right has
// a row, and rows only look down.
func TestTable(t *testing.T) {
	rank := map[string]int{}
	for i, p := range descent {
		rank[p] = i + 1
		if r := rowOf(p); r == nil || r.part != p {
			t.Errorf("%s has no row", p)
		}
	}
	for _, r := range imports {
		for _, p := range r.may {
			target := rowOf(p)
			if target == nil {
				t.Errorf("%s may import %s, which has no row", r.part, p)
			} else if rank[target.part] <= rank[r.part] && target.part != r.part {
				t.Errorf("%s may import %s, which does not stand lower", r.part, p)
			}
		}
	}
}

const mod = "module m\n\ngo 1.26\n"

// check runs Check over files that stand in a map from path to content.
func check(t *testing.T, files map[string]string) []string {
	t.Helper()
	root := t.TempDir()
	writeFiles(t, root, files)
	faults, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range faults {
		list = append(list, f.String())
	}
	return list
}

// writeFiles writes files, which stand in a map from path to content, below root.
func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// pkg is a documented package that imports the paths.
func pkg(name string, paths ...string) string {
	var b strings.Builder
	b.WriteString("// Package " + name + " is a test.\npackage " + name + "\n")
	for _, p := range paths {
		b.WriteString("\nimport _ \"" + p + "\"\n")
	}
	return b.String()
}

func TestImports(t *testing.T) {
	got := check(t, map[string]string{
		"go.mod":                    mod,
		"m.go":                      pkg("m", "m/saga"), // the root sees everything
		"saga/s.go":                 pkg("saga", "m/dataflow/exec", "m/internal/simd", "m/layers"),
		"layers/l.go":               pkg("layers", "m/saga", "m/ops"),
		"examples/gcn/main.go":      pkg("main", "m/layers", "m/internal/progress"),
		"dataflow/d.go":             pkg("dataflow", "m/kernel", "m/device"),
		"dataflow/exec/e.go":        pkg("exec", "m/device", "m/dataflow"),
		"dataflow/plan/p.go":        pkg("plan", "m/ring", "m/kernel"),
		"kernel/cpu/k.go":           pkg("cpu", "m/internal/simd", "m/internal/progress"),
		"kernel/cpu/k_test.go":      "package cpu\n\nimport _ \"m/internal/golden\"\n\nimport _ \"m/saga\"\n\nimport _ \"m/ring\"\n",
		"kernel/cpu/x_test.go":      "package cpu_test\n\nimport _ \"m/saga\"\n",
		"chunk/c.go":                pkg("chunk", "os", "golang.org/x/sys/unix"),
		"chunk/c_test.go":           "package chunk\n\nimport _ \"pgregory.net/rapid\"\n",
		"dataset/d.go":              pkg("dataset", "m/internal/testdata", "m/chunk", "m"),
		"device/devicetest/t.go":    pkg("devicetest", "m/device", "m/internal/golden"),
		"device/c.go":               pkg("device", "C"),
		"ring/r.go":                 pkg("ring", "C"),
		"other/o.go":                pkg("other"),
		"internal/simd/gen/go.mod":  "module gen\n",
		"internal/simd/gen/main.go": pkg("main", "m/saga"), // another module
	})
	want := []string{
		`chunk/c.go:6: chunk may import the standard library only, not golang.org/x/sys/unix`,
		`dataflow/d.go:6: dataflow may not import device: of the module it may import dataflow/plan, kernel, chunk`,
		`dataflow/exec/e.go:6: dataflow/exec may not import dataflow: of the module it may import dataflow/plan, backend, kernel/cpu, kernel, device, net, chunk`,
		`dataflow/plan/p.go:6: dataflow/plan may not import kernel: of the module it may import ring, internal/units`,
		`dataset/d.go:4: internal/testdata is for tests only`,
		`dataset/d.go:8: dataset may not import the root package: of the module it may import chunk, internal/regular, internal/words`,
		`examples/gcn/main.go:6: examples/gcn may not import internal/progress: of the module it may import ` + strings.Join(public, ", "),
		`kernel/cpu/k.go:6: kernel/cpu may not import internal/progress: of the module it may import kernel, internal/simd, chunk`,
		`kernel/cpu/k_test.go:5: kernel/cpu may not import saga: of the module it may import kernel, internal/simd, chunk`,
		`other/o.go: no row of the import table in internal/lint/table.go covers package other`,
		`ring/r.go:4: import "C" may stand below device, net/mpi only`,
		`saga/s.go:8: saga may not import layers: of the module it may import ` + strings.Join(below("saga/report"), ", "),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestKinds: a device's kind is compared in its folders only; the names are those of the table.
func TestKinds(t *testing.T) {
	const body = `

import "strings"

func f(kind string) bool {
	switch kind {
	case "null":
		return true
	}
	x := "cuda" // a name that is passed on
	return kind == "cpu" || strings.HasPrefix(kind, "cuda:") || kind != x || kind == "cpus"
}
`
	got := check(t, map[string]string{
		"go.mod":            mod,
		"saga/s.go":         "// Package saga is.\npackage saga" + body,
		"saga/s_test.go":    "package saga" + strings.Replace(body, "func f", "func g", 1),
		"device/d.go":       "// Package device is.\npackage device" + body,
		"bench/b/main.go":   "// Package main is.\npackage main" + body,
		"backend/b.go":      "// Package backend is.\npackage backend" + body,
		"kernel/cuda/c.go":  "// Package cuda is.\npackage cuda" + body,
		"kernel/cpu/cpu.go": "// Package cpu is.\npackage cpu\n\nfunc f(x any) bool { return x == 1 }\n",
	})
	want := []string{
		`saga/s.go:8: compares with the device kind "null": ask the row of package backend`,
		`saga/s.go:12: compares with the device kind "cpu": ask the row of package backend`,
		`saga/s.go:12: compares with the device kind "cuda": ask the row of package backend`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "backend", "kind.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`\{Name: "(\w+)"`).FindAllSubmatch(table, -1) {
		names = append(names, string(m[1]))
	}
	if d := cmp.Diff(names, deviceKinds); d != "" {
		t.Errorf("backend's table and deviceKinds: %s", d)
	}
}

func TestFiles(t *testing.T) {
	long := pkg("chunk") + strings.Repeat("\n// x", maxLines) + "\n"
	got := check(t, map[string]string{
		"go.mod":                   mod,
		"chunk/long.go":            long,
		"chunk/made.go":            "// Code generated by x. DO NOT EDIT.\n\n" + long,
		"chunk/tag.go":             "//go:build linux\n\npackage chunk\n",
		"chunk/x_linux.go":         "package chunk\n",
		"chunk/x_arm64_test.go":    "package chunk\n",
		"chunk/x_race_test.go":     "//go:build race\n\npackage chunk\n",
		"chunk/add_amd64.s":        "TEXT\n",
		"chunk/broken.go":          "package chunk\n\nfunc {\n",
		"chunk/wide.go":            "package chunk\n\nvar a  = 1\n",
		"chunk/draw_test.go":       "package chunk\n\nvar _ = rapid" + ".Check(nil)\n",
		"internal/draw/d_test.go":  "package draw\n\nvar _ = rapid" + ".Check(nil)\n",
		"chunk/testdata/broken.go": "no Go at all /wor" + "k/x\n",
		"chunk/testdata/data.bin":  "/wor" + "k/\x00",
		"device/d_linux.go":        "//go:build cuda\n\n" + pkg("device"),
		"internal/simd/a_amd64.s":  "TEXT\n",
		"internal/simd/a.go":       pkg("simd"),
		".git/config":              "/wor" + "k/\n",
		"README.md":                "line\nsee shared/" + "DESIGN.md\n",
		".ci/run":                  "cd /wor" + "k/main\n",
	})
	want := []string{
		`.ci/run:1: names a place outside the project: "/wor` + `k/"`,
		`README.md:2: names a place outside the project: "shared/` + `DESIGN"`,
		`chunk/add_amd64.s: assembly may stand below device, internal/simd, net/mpi only`,
		`chunk/broken.go:3: does not parse: expected 'IDENT', found '{'`,
		`chunk/draw_test.go:3: rapid.Check draws other cases in every run: call Check or Each of internal/draw`,
		`chunk/long.go:401: 403 lines, at most 400 are allowed`,
		`chunk/tag.go:1: build tags may stand below device, internal/simd, net/mpi only, and in *_race_test.go and *_norace_test.go`,
		`chunk/testdata/broken.go:1: names a place outside the project: "/wor` + `k/"`,
		`chunk/wide.go:3: not formatted by gofmt`,
		`chunk/x_arm64_test.go: the ending _arm64 is a build tag, which may stand below device, internal/simd, net/mpi only`,
		`chunk/x_linux.go: the ending _linux is a build tag, which may stand below device, internal/simd, net/mpi only`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDocs(t *testing.T) {
	const bare = `package chunk

func F() {}

func f() {}

// G has one.
func G() {}

type T[K any] struct{}

func (t *T[K]) M() {}

type t struct{}

func (t) M() {}

// A group.
type (
	A = t
	B struct{}
)

const C, D = 1, 2

const (
	E = 1 // the first
	H = 2
)

// Covered.
var (
	V int
	W int
)

var X int

var _ = X
`
	got := check(t, map[string]string{
		"go.mod":            mod,
		"chunk/bare.go":     bare,
		"chunk/a_test.go":   "// Package chunk is not documented by a test.\npackage chunk\n\nfunc T() {}\n",
		"ring/doc.go":       pkg("ring"),
		"ring/made.go":      "// Code generated by x. DO NOT EDIT.\n\npackage ring\n\nfunc F() {}\n",
		"dataset/a_test.go": "package dataset\n",
		"kernel/doc.go":     "// Package kernel has listed*.go and gone.go.\npackage kernel\n",
		"kernel/listed1.go": "package kernel\n",
		"kernel/other.go":   "package kernel\n",
	})
	want := []string{
		"chunk/bare.go:1: package chunk has no comment in any file: write a doc.go",
		"chunk/bare.go:3: exported function F has no comment",
		"chunk/bare.go:10: exported type T has no comment",
		"chunk/bare.go:12: exported method T.M has no comment",
		"chunk/bare.go:21: exported type B has no comment",
		"chunk/bare.go:24: exported constant C has no comment",
		"chunk/bare.go:24: exported constant D has no comment",
		"chunk/bare.go:28: exported constant H has no comment",
		"chunk/bare.go:37: exported variable X has no comment",
		"kernel/doc.go: names gone.go, which is not there",
		"kernel/doc.go: does not name other.go",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNoModule(t *testing.T) {
	if _, err := Check(t.TempDir()); err == nil {
		t.Error("a folder without go.mod was examined")
	}
}
