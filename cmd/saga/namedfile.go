package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// namedError is an error with other words.
type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.error }

// withFlag is err with the flag or argument that names the file of which it speaks, in place of what the system was asked for: an error that says "stat nosuch" does not
// tell which of several files is meant.
func withFlag(ctx *kong.Context, err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) || p.Op != "stat" && p.Op != "open" && p.Op != "lstat" && p.Op != "mkdir" {
		return err
	}
	at, by := filepath.Clean(p.Path), []string(nil)
	for _, x := range namedBy(ctx) {
		if x.given == "" || slices.Contains(by, x.by) {
			continue
		}
		part := filepath.Dir(at) == filepath.Dir(x.path) && strings.HasPrefix(filepath.Base(at), "."+filepath.Base(x.path)+".") // as it is written
		if at == x.path || at == filepath.Dir(x.path) || part {
			by = append(by, x.by)
		}
		if within := x.unread && filepath.Dir(at) == x.path; within {
			by = append(by, x.by)
			part = true
		}
		if part {
			at = x.path
		}
	}
	if len(by) == 0 {
		return err
	}
	name := strings.Join(by, " or ")
	text := strings.Replace(err.Error(), p.Error(), name+" "+at+": "+p.Err.Error(), 1)
	return &namedError{err, strings.TrimPrefix(text, name+": ")} // where it says the flag already
}
