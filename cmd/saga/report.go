package main

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"

	"sagann/internal/cli"
	"sagann/internal/runpage"
)

// severalFile is where the page of several runs goes without --out.
const severalFile = "saga-report.html"

// reportCmd is saga report.
type reportCmd struct {
	Runs []string `arg:"" name:"run" help:"Folders of runs."`
	Out  string   `placeholder:"FILE" help:"File of the page; default: report.html in the folder of the run, of several runs saga-report.html here."`
}

// Help is what stands under the usage line.
func (reportCmd) Help() string {
	return `Examples:

  saga report saga-run-0001
  saga report saga-run-0001 saga-run-0002 runs/wide --out compare.html

The page is one file that loads nothing. A run that is under way has the epochs so far.`
}

// Run makes the page.
func (c *reportCmd) Run(a *app) error {
	var runs []*runpage.Run
	named := map[string]int{}
	for _, dir := range c.Runs {
		r, err := runpage.Read(dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
		named[r.Name]++
	}
	for i, r := range runs {
		if named[r.Name] > 1 { // such as a/run and b/run
			r.Name = filepath.Clean(c.Runs[i])
		}
	}
	path := cmp.Or(c.Out, severalFile)
	write := func(w *bufio.Writer) error { return runpage.WriteSeveral(w, runs) }
	if len(runs) == 1 {
		path = cmp.Or(c.Out, filepath.Join(c.Runs[0], runpage.PageFile))
		write = func(w *bufio.Writer) error { return runs[0].Write(w) }
	}
	if err := cli.WriteWhole(path, write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "report    %s\n", path)
	return err
}
