package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDoors runs testdata/data/*.txtar, where FORMATS is the folder of files that
// bench/formats/make.py has written.
func TestDoors(t *testing.T) {
	t.Parallel()
	formats, err := filepath.Abs("../../dataset/testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/data",
		Setup: func(e *testscript.Env) error { e.Setenv("FORMATS", formats); return nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "lines": cmdLines, "sametensors": cmdSameTensors,
		},
	})
}
