package mine_test

import (
	"flag"
	"testing"
)

// TestMain draws with a fixed seed unless -rapid.seed names another.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	m.Run()
}
