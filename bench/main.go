// Command bench measures the engine: the tables of saga bench, and what developers compare with other programs, or
// measure a change by.
//
//	go run ./bench --help
//	go run ./bench quality --against bench/quality/table.csv
//	go build -tags cuda -o bin/ ./bench && bin/bench sampled --epochs 3 --device cuda
//
// README.md lists the commands with what they print.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"

	"sagann/bench/accuracy"
	"sagann/bench/links"
	"sagann/bench/mine"
	"sagann/bench/offload"
	"sagann/bench/quality"
	"sagann/bench/sampled"
	"sagann/bench/tables"
	"sagann/internal/cli"
)

// commands is the command line.
type commands struct {
	tables.Commands
	Offload  offload.Command  `cmd:"" help:"Models in less and less device memory, or on several devices with the ring and without."`
	Sampled  sampled.Command  `cmd:"" help:"Training on sampled blocks: batches, epochs, parts left out."`
	Counting mine.Command     `cmd:"" help:"Pattern mining: a job beside other programs, engines, threads, kernels of GPUs."`
	Quality  quality.Command  `cmd:"" help:"How good plans are, and what planning takes: fixed cases against a recorded table."`
	Accuracy accuracy.Command `cmd:"" help:"Recipes of bench/peer beside torch and PyTorch Geometric."`
	Links    links.Command    `cmd:"" help:"Links by learned rows, by degrees and by the product of degrees."`
}

// parserOf is the parser of the command line.
func parserOf(c *commands) (*kong.Kong, error) {
	return kong.New(c, kong.Name("bench"), kong.Description("Measurements of the engine: the tables of saga bench, then those for developers."),
		kong.Vars(tables.Vars()), kong.NamedMapper("lowercase", kong.MapperFunc(cli.LowerCase)), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
}

func main() {
	parser, err := parserOf(new(commands))
	if err != nil {
		panic(err)
	}
	k, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = cli.NamedDevices(k)
	}
	parser.FatalIfErrorf(err)
	a := &cli.App{Stdout: cli.NewOutput(os.Stdout), Stderr: os.Stderr, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Given: map[string]bool{}}
	for _, p := range k.Path {
		if p.Flag != nil && !p.Resolved {
			a.Given[p.Flag.Name] = true
		}
	}
	if err := k.Run(a); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
