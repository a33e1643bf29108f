package dataflow_test

import (
	"regexp"
	"strings"
	"testing"

	"sagann/internal/golden"
)

var invariant = regexp.MustCompile(`inv:[0-9a-f]+`)

// The scripts show what the compiler makes of small models. A command with input
// defines the model that it and the commands after it are about:
//
//	dump pass=NAME      the program after a pass
//	regions             the fused edge programs
//	phases              the steps of every phase and what they read and write
//	kernels             the programs that the steps run
//
//	arriving            the values from which those at the far end could be computed on arrival
//
// each with without=(pass,pass), storage=bf16, store=(name,name) and with once for the program of what
// never changes.
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		var p *program
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			if cmd.Input != "" {
				p = parse(cmd.Input)
			}
			without, storage := cmd.Vals("without"), cmd.String(t, "storage", "")
			if cmd.Name == "dump" {
				text, err := p.dump(cmd.String(t, "pass", ""), storage, without)
				if err != nil {
					return err.Error()
				}
				return text
			}
			main, once, err := p.compile(without, storage, "", nil, cmd.Vals("store")...)
			if err != nil {
				return err.Error()
			}
			if cmd.Has("once") {
				if main = once; once == nil {
					return "nothing"
				}
			}
			b := &printer{Lowered: main}
			switch cmd.Name {
			case "regions":
				b.regions()
			case "phases":
				b.phases()
			case "kernels":
				b.kernels()
			case "arriving":
				return strings.Join(main.Arriving, " ")
			case "anew":
				return strings.Join(main.Anew, " ")
			case "far":
				return strings.Join(main.Far, " ")
			default:
				t.Fatalf("%s: unknown command", cmd.Pos)
			}
			return invariant.ReplaceAllString(b.String(), "inv") // named by a hash of lines here, too
		})
	})
}
