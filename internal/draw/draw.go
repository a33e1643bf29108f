// Package draw runs property tests. Their random cases come from a seed, which is computed from the
// test's name and a number: 1, or that in the environment variable SAGA_SEED. So go test draws the same
// cases every time. make soak sets SAGA_SEED and draws new ones.
package draw

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Variable is the name of the environment variable with the number from which seeds are computed.
const Variable = "SAGA_SEED"

// Check is rapid.Check with the seed of the test. Tests that call it must not run in
// parallel. A seed given by -rapid.seed, as a failure prints it, is used unchanged.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.seed")
	if f.Value.String() == "0" {
		if err := f.Value.Set(strconv.FormatUint(Seed(t), 10)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set("0") }()
	}
	rapid.Check(t, property)
}

// Each is Check for t.Run.
func Each(property func(*rapid.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		Check(t, property)
	}
}

// Soak reports whether make soak runs the tests. Then they do not skip what takes long.
func Soak() bool { return os.Getenv(Variable) != "" }

// Seed is the seed of a test, never 0.
func Seed(t testing.TB) uint64 {
	t.Helper()
	base := uint64(1)
	if s := os.Getenv(Variable); s != "" {
		var err error
		if base, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s is %q, not a whole number", Variable, s)
		}
	}
	return seedOf(base, t.Name())
}

func seedOf(base uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", base, name)
	return max(1, h.Sum64())
}

// Damage calls f for n copies of the file at path in which a bit is flipped, or which are cut, and restores it. what says what
// was done. The copies follow from Seed.
func Damage(t *testing.T, path string, n int, f func(what string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(Seed(t), 1))
	for range n {
		other, at := slices.Clone(text), r.IntN(len(text))
		bit := r.IntN(9)
		what := fmt.Sprintf("bit %d of byte %d", bit, at)
		if bit < 8 {
			other[at] ^= 1 << bit
		} else {
			other, what = other[:at], fmt.Sprintf("cut at byte %d", at)
		}
		if err := os.WriteFile(path, other, 0o666); err != nil {
			t.Fatal(err)
		}
		f(what)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
