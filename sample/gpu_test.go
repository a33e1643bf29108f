package sample

import (
	"errors"
	"fmt"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/device/nvrtc"
	"sagann/internal/draw"
)

// openGPU opens the first GPU, or an emulated one.
func openGPU(t testing.TB, emulated, real int64) device.GPU {
	t.Helper()
	d, err := device.OpenCUDA(0, real)
	if err != nil {
		return cudatest.Open(t, 0, emulated)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(device.GPU)
}

// eachOnGPU calls f for every sampler that GPUs draw, on every graph. Of an emulated GPU it is every other one, as a C++ compiler runs for each.
func eachOnGPU(t *testing.T, gpu device.GPU, graphs []*Graph, samplers []Sampler, f func(t *testing.T, p *Program, x *GPU)) {
	t.Helper()
	for n, g := range graphs {
		for i, s := range samplers {
			if gpu.Info().Processors == 1 && (i+n)%2 == 1 && !draw.Soak() {
				continue
			}
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			x, err := p.OnGPU(gpu)
			if errors.Is(err, ErrNotOnGPU) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s %d on graph %d", s.Name, i, n), func(t *testing.T) { f(t, p, x) })
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// stepping are samplers with steps, and trees.
func stepping() (list []Sampler) {
	for _, s := range every() {
		if s.Output == Steps {
			list = append(list, s)
		}
	}
	list = append(list, Sampler{Name: "trees", Steps: 2, Size: func(step int) int { return 3 - step }},
		Sampler{Name: "weighted trees", Steps: 2, Size: func(step int) int { return 5 - step },
			Next: func(_ Sample, at Pool, r Rand) Int {
				return If(Less(r.Uniform(), Const(0.1)), None, r.PickWeighted(at))
			}})
	cut := PPR(0.1)
	cut.Steps = 9
	back := Sampler{Name: "back", Steps: 9, Transits: func(s Sample, _ Int, r Rand) Int {
		last := s.Prev(1)
		return If(Or(Equal(last, None), Less(r.Uniform(), Const(0.2))), s.Root(Whole(0)), last)
	}, Next: func(s Sample, at Pool, r Rand) Int {
		i := r.Pick(at)
		return If(Equal(at.Neighbour(i), s.Prev(2)), None, i)
	}}
	unique := Sampler{Name: "unique trees", Steps: 3, Size: func(step int) int { return 4 + step }, Unique: InStep}
	large := Sampler{Name: "large unique trees", Steps: 2, Size: func(step int) int { return 30 }, Unique: InStep,
		Next: func(_ Sample, at Pool, r Rand) Int {
			return If(Less(r.Uniform(), Const(0.1)), None, r.PickWeighted(at))
		}}
	home := Sampler{Name: "until the root", Steps: Unbounded, Next: func(s Sample, at Pool, r Rand) Int {
		i := r.Pick(at)
		return If(Or(Less(r.Uniform(), Const(0.02)), Equal(at.Neighbour(i), s.Root(Whole(0)))), None, i)
	}}
	wide := Sampler{Name: "large state", Steps: 9, State: []Field{{Name: "sum", Len: 1}}, Next: func(s Sample, at Pool, r Rand) Int {
		sum := Add(s.Get("sum", Whole(0)), Whole(1<<35))
		s.Set("sum", Whole(0), sum)
		return If(Less(Whole(3<<35), sum), None, r.Pick(at))
	}}
	return append(list, cut, back, unique, large, Layer(40, 70), home, wide, PPR(0.002)) // the last one in several launches
}

// sampledGraphs are graphs for comparisons: with weights and without.
func sampledGraphs(t testing.TB) []*Graph {
	with := randomEdges(60, 400, 7)
	without := randomEdges(90, 300, 3)
	without.Weight = nil
	return []*Graph{mustGraph(t, with), mustGraph(t, without)}
}

// TestGPUSteps: a GPU, or an emulated one, draws what the reference draws.
func TestGPUSteps(t *testing.T) {
	gpu := openGPU(t, 4<<20, 1<<28)
	eachOnGPU(t, gpu, sampledGraphs(t), stepping(), func(t *testing.T, p *Program, x *GPU) {
		const samples = 40
		key := Key{Seed: 3, Epoch: 1}
		roots := p.Roots(samples, 5, Key{Seed: 2})
		var want, got Samples
		p.tools.by = func() run { return reference }
		if err := p.Run(&want, roots, 5, key); err != nil {
			t.Fatal(err)
		}
		if err := x.Run(&got, roots, 5, key); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.N, got.Steps, got.Widths) != fmt.Sprint(want.N, want.Steps, want.Widths) {
			t.Errorf("another sample than the reference:\n%v\n%v", got.Steps, want.Steps)
		}
	})
}

// TestGPUTexts translates the kernels of all samplers, where the compiler is there.
func TestGPUTexts(t *testing.T) {
	for _, g := range sampledGraphs(t) {
		for _, s := range stepping() {
			p, err := Compile(g, s)
			if err != nil {
				t.Fatal(err)
			}
			x := &GPU{p: p}
			if _, err := x.plan(); errors.Is(err, ErrNotOnGPU) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			var texts []string
			if x.grow != nil {
				texts = []string{x.grow.Source()}
			} else {
				texts = x.walk.Sources()
			}
			for _, text := range texts {
				err := nvrtc.Check(text, 75)
				if errors.Is(err, nvrtc.ErrMissing) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatalf("%s: %v\n%s", s.Name, err, text)
				}
			}
		}
	}
}
