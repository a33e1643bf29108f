package sim_test

import (
	"fmt"
	"os"
	"testing"

	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
)

func FuzzParseMachine(f *testing.F) {
	for _, name := range sim.Machines() {
		data, err := os.ReadFile(fmt.Sprintf("machines/%s.json", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := sim.ParseMachine("fuzz", data)
		if err != nil {
			return
		}
		// What is accepted can be simulated.
		sim.Simulate(plantest.Chain(), m)
	})
}
