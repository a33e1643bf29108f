// Command testlist summarises the output of go test -json. It prints a line for each package, and the whole
// output of tests that failed or had not ended when their package ended. With -skipped it appends the skipped
// tests to a file, with the reasons that they gave. It exits with 1 if something failed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

func main() {
	log.SetFlags(0)
	skipped := flag.String("skipped", "", "file to which skipped tests are added")
	flag.Parse()
	ok, list, err := summarize(os.Stdin, os.Stdout)
	if *skipped != "" && err == nil {
		err = add(*skipped, list)
	}
	if err != nil {
		log.Fatal("testlist: ", err)
	}
	if !ok {
		os.Exit(1)
	}
}

// summarize reads events from r, prints to w, and lists the tests that were skipped.
func summarize(r io.Reader, w io.Writer) (ok bool, skipped []string, err error) {
	ok = true
	wrote := map[string]*strings.Builder{} // by package and test
	var begun []string                     // its keys
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // not an event, such as an error of the go command
				w.Write(line)
				continue
			}
			key := e.Package + e.ImportPath + " " + e.Test
			b := wrote[key]
			if b == nil {
				b = &strings.Builder{}
				wrote[key] = b
				begun = append(begun, key)
			}
			b.WriteString(e.Output)
			switch e.Action {
			case "fail", "build-fail":
				ok = false
				if e.Test == "" { // tests that have not ended, as when one of them ends the process
					begun = slices.DeleteFunc(begun, func(test string) bool {
						of := strings.HasPrefix(test, key)
						if x := wrote[test]; of && x != nil && test != key {
							io.WriteString(w, x.String())
						}
						return of
					})
				}
				io.WriteString(w, b.String())
			case "pass":
				if e.Test == "" {
					io.WriteString(w, lastLine(b.String()))
				}
			case "skip":
				if e.Test != "" {
					skipped = append(skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(b.String())))
				}
			}
			if e.Test != "" && (e.Action == "pass" || e.Action == "skip" || e.Action == "fail") {
				delete(wrote, key)
			}
		}
		if errors.Is(err, io.EOF) {
			return ok, skipped, nil
		}
		if err != nil {
			return false, nil, err
		}
	}
}

// lastLine is the last line of text: "ok", the package and its seconds.
func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:] + "\n"
}

// reason is what a skipped test said: the lines without those of the go command.
func reason(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			list = append(list, line)
		}
	}
	return strings.Join(list, " ")
}

func add(path string, list []string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	for _, s := range list {
		fmt.Fprintln(f, s)
	}
	return f.Close()
}
