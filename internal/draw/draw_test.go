package draw

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Two tests draw other cases, with seeds that number and name determine; a seed that was
// given is taken as it is.
func TestSeeds(t *testing.T) {
	drawn := func(name string) (list []int64) {
		t.Run(name, Each(func(t *rapid.T) { list = append(list, rapid.Int64().Draw(t, "number")) }))
		return list
	}
	if slices.Equal(drawn("a"), drawn("b")) {
		t.Error("two tests draw the same")
	}
	f := flag.Lookup("rapid.seed")
	if f.Value.String() == "0" { // not under -rapid.seed
		_ = f.Value.Set("7")
		same := slices.Equal(drawn("c"), drawn("d"))
		_ = f.Value.Set("0")
		if !same {
			t.Error("a given seed is not taken as it is")
		}
	}
	if x := seedOf(1, "x"); x != seedOf(1, "x") || x == seedOf(2, "x") || x == seedOf(1, "y") {
		t.Error("a seed is not a function of number and name")
	}
}
