package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sagann/chunk"
	"sagann/internal/cli"
)

// removedOnSignal has the signals that ask a process to end, until stop is called, remove what is written for
// path so far and end the process; stop then waits for that end, whatever the error that
// the removal makes of writing.
func removedOnSignal(path string) (stop func()) {
	signals, done, over := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	unheeded := cli.Heed(signals)
	go func() {
		select {
		case <-signals:
			if err := removePartial(path); err != nil {
				fmt.Fprintf(os.Stderr, "saga: %v\n", err)
			}
			interrupted()
		case <-done:
			close(over)
		}
	}()
	return func() {
		unheeded()
		close(done)
		<-over
	}
}

// interrupted ends the process at a signal before which nothing is to be done: a graph is being read, or a plan made.
func interrupted() {
	fmt.Fprintln(os.Stderr, "saga: interrupted")
	os.Exit(exitInterrupted)
}

// removePartial removes what this process has begun to write for path.
func removePartial(path string) error {
	dir := filepath.Dir(path)
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), chunk.TempName(path)) {
			err := os.RemoveAll(filepath.Join(dir, e.Name()))
			for k := 0; k < 100 && err != nil; k++ { // a file was made in a folder meanwhile
				err = os.RemoveAll(filepath.Join(dir, e.Name()))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
