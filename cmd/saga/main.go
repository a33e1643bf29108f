package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"sagann/bench/tables"
	"sagann/chunk"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/units"
	"sagann/layers"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// commands is the command line.
type commands struct {
	Train      trainCmd      `cmd:"" help:"Train a model on a graph."`
	Plan       planCmd       `cmd:"" help:"Say what a training epoch would do, its memory and its time, without training."`
	Report     reportCmd     `cmd:"" help:"Make the report page of a run again, or one page of several runs side by side."`
	Evaluate   evaluateCmd   `cmd:"" help:"Score a trained model: loss, accuracy, every class, the confusion matrix."`
	Predict    predictCmd    `cmd:"" help:"Write the class, probabilities, logits or numbers of every vertex, edge or graph."`
	Export     exportCmd     `cmd:"" help:"Write the weights of a run as PyTorch Geometric's layers have them."`
	Embed      embedCmd      `cmd:"" help:"Write embeddings: the rows that enter the last layer, or that links are scored by."`
	Sample     sampleCmd     `cmd:"" help:"Draw blocks of neighbours, or of another sampler, and write their edges."`
	Walk       walkCmd       `cmd:"" help:"Draw random walks from all vertices and write them."`
	Mine       mineCmd       `cmd:"" help:"Count and list cliques, motifs and patterns of a graph."`
	Bench      benchCmd      `cmd:"" group:"bench" help:"Tables of schedules, streaming and passes, simulated and counted."`
	Data       dataCmd       `cmd:"" help:"Convert, describe, verify and generate graphs."`
	Topo       topoCmd       `cmd:"" help:"Print how the GPUs of a machine are connected, and measure their links."`
	Kernels    kernelsCmd    `cmd:"" help:"Print a model's kernels as CUDA C++."`
	Key        keyCmd        `cmd:"" help:"Make the secret by which ranks of several hosts know each other."`
	Completion completionCmd `cmd:"" help:"Print what makes bash, zsh or fish complete commands and flags."`
	Version    versionCmd    `cmd:"" help:"Print the version of this program."`

	ShowVersion versionFlag `name:"version" help:"Print the version of this program."`
}

func main() {
	begun = processStart()
	cli.Unheeded(interrupted)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// begun is when this process was started, zero if run is called by tests.
var begun time.Time

// processStart asks the system when this process was started: it may have been stopped since. Without an answer it is now.
func processStart() time.Time {
	now := time.Now()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return now
	}
	var up float64 // seconds since the system was started
	if text, err := os.ReadFile("/proc/uptime"); err != nil {
		return now
	} else if _, err := fmt.Sscan(string(text), &up); err != nil {
		return now
	}
	const field, ticks = 19, 100 // of those behind the name; in a second
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= field {
		return now
	}
	at, err := strconv.ParseFloat(fields[field], 64)
	if age := up - at/ticks; err == nil && age > 0 {
		return now.Add(-time.Duration(age * float64(time.Second)))
	}
	return now
}

// exited is what kong's exit, after printing help, panics with.
type exited int

// grammar is what kong makes the command line of: a *commands, or, where the first argument names one of its commands, a struct
// of that alone, since most of the time to start was spent on flags of the others.
func grammar(args []string) any {
	all := reflect.TypeFor[commands]()
	if len(args) > 0 {
		for i := range all.NumField() {
			f := all.Field(i)
			if _, command := f.Tag.Lookup("cmd"); command && strings.ToLower(f.Name) == args[0] {
				version, _ := all.FieldByName("ShowVersion")
				return reflect.New(reflect.StructOf([]reflect.StructField{f, version})).Interface()
			}
		}
	}
	return &commands{}
}

func newParser(grammar any, stdout, stderr io.Writer) *kong.Kong {
	return kong.Must(grammar,
		kong.Name("saga"),
		kong.Description("Train graph neural networks on whole graphs within a budget of device memory.\n\n"+
			"First steps:\n\n"+
			"    saga train                           generates a graph and trains on it\n"+
			"    saga train --data PATH               trains on yours (saga data --help)\n"+
			"    saga predict saga-run-0001 --out classes.csv\n"+
			"                                         writes what a run has learned\n"+
			"    saga report saga-run-0001 saga-run-0002\n"+
			"                                         lays runs side by side"),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.Vars(tables.Vars()),
		kong.Vars{"models": strings.Join(layers.Names(), ", "),
			"with_steps": listed(layers.Reading(layers.ReadsSteps)), "activations": strings.Join(layers.Activations(), ", "), "with_heads": listed(layers.Reading(layers.ReadsHeads)),
			"with_normalize": listed(layers.Reading(layers.ReadsNormalize)), "with_loops": listed(layers.Looped()),
			"without_project": listed(notReading(layers.ReadsProject)), "with_bias": listed(layers.Reading(layers.ReadsBias)), "with_alpha": listed(layers.Reading(layers.ReadsAlpha)), "with_bases": listed(layers.Reading(layers.ReadsBases)), "with_theta": listed(layers.Reading(layers.ReadsTheta)),
			"with_edge_data": listed(layers.Reading(layers.ReadsDataAsked)), "jumps": strings.Join(layers.Jumps(), ", ")},
		kong.NamedMapper("lowercase", kong.MapperFunc(cli.LowerCase)),
		kong.ExplicitGroups(flagGroups),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
}

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr *os.File) (status int) {
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	parser := newParser(grammar(args), stdout, stderr)
	defer func() {
		if r := recover(); r != nil {
			code, ok := r.(exited)
			if !ok {
				panic(r)
			}
			status = int(code)
		}
	}()
	ctx, err := parser.Parse(joined(args))
	if err == nil {
		if err = cmp.Or(empty(ctx), overwrites(ctx), cli.NamedDevices(ctx)); err != nil {
			fmt.Fprintf(stderr, "saga: %v\nsaga: try %s --help\n", err, ctx.Selected().FullPath())
			return exitUsage
		}
	}
	if err != nil {
		where, command := "saga", ""
		var p *kong.ParseError
		if errors.As(err, &p) && p.Context != nil && p.Context.Command() != "" {
			command = p.Context.Command()
			where += " " + command
		}
		if p != nil && p.Context != nil && strings.HasPrefix(err.Error(), "expected one of ") { // saga, or saga mine, and nothing behind it
			parser.Stdout = stderr
			if p.Context.PrintUsage(false) == nil {
				return exitUsage
			}
		}
		fmt.Fprintf(stderr, "saga: %v\n%ssaga: try %s --help\n", err, dataHint(command, err), where)
		return exitUsage
	}
	a := &app{Stdout: cli.NewOutput(stdout), Stderr: stderr, Log: newLogger(stderr), Given: map[string]bool{}}
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved {
			a.Given[p.Flag.Name] = true
		}
	}
	return exitStatus(withFlag(ctx, ctx.Run(a)), stderr)
}

// exitStatus prints err, if it is one, and is the exit status that it means.
func exitStatus(err error, stderr io.Writer) int {
	var usage cli.UsageError
	var told *toldError
	switch {
	case errors.As(err, &told):
		return told.status
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "saga: interrupted")
		return exitInterrupted
	}
	if several := cli.SeveralTypes(err) || errors.Is(err, chunk.ErrParts); several && !errors.As(err, &usage) { // a command that takes them has opened them
		err = fmt.Errorf("%w; train, plan, evaluate, predict, embed, export, kernels, data convert, data info, data verify and data shard --out take graphs of several types, and others those of one", err)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "saga: "), ": saga: ", ": ") // errors of package saga name it
	fmt.Fprintf(stderr, "saga: %s\n", strings.ReplaceAll(cli.Plain(text), "\n", "\nsaga: "))
	if free := freeSpace(err); free != "" {
		fmt.Fprintf(stderr, "saga: %s\n", free)
	}
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailure
}

// freeSpace says, of an error of a full disk, what is free on it.
func freeSpace(err error) string {
	var at *fs.PathError
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) || !errors.As(err, &at) {
		return ""
	}
	for dir := filepath.Dir(at.Path); ; dir = filepath.Dir(dir) { // the folder of a file may be gone
		if free, err := device.FreeSpace(dir); err == nil {
			return fmt.Sprintf("the disk of %s has %s free now", dir, units.Size(free))
		} else if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
