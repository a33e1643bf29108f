package tables

import (
	"strings"

	"sagann/bench/measure"
	"sagann/dataflow/plan/sim"
)

// Commands are those of saga bench.
type Commands struct {
	Schedules Schedules `cmd:"" help:"Orders of chunks: bytes and times of sag, stage and dest-order (the paper's Figure 14)."`
	Streaming Streaming `cmd:"" help:"Overlap and operator motion on graphs that grow (the paper's Figure 15)."`
	Ring      Ring      `cmd:"" help:"Several devices, with the ring and without (the paper's Figure 16)."`
	Ablation  Ablation  `cmd:"" help:"Every pass left out in turn, simulated; with --device every one added in turn, run."`
	Kernels   Kernels   `cmd:"" help:"Every kernel of an epoch on a GPU against the device's ceilings."`
	Epoch     Epoch     `cmd:"" help:"Times of training epochs on this machine."`
	Sample    Sample    `cmd:"" help:"Samples a second of every sampler, beside what random reads of this machine allow."`
	Embed     Embed     `cmd:"" help:"Embeddings by two layers over sampled trees on a GPU, beside Gunrock's."`
	Mine      Mine      `cmd:"" help:"Matching, cliques, frequent patterns and sorts, beside GAMMA's figures."`
	Auto      Auto      `cmd:"" help:"What auto chooses against an exhaustive search."`
}

// Vars are the names in the help of Commands that the command line puts lists for.
func Vars() map[string]string {
	return map[string]string{"sample_shapes": measure.Shapes(measure.All), "model_shapes": measure.Shapes(measure.Rows), "machines": strings.Join(sim.Machines(), ", ")}
}
