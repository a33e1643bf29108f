package saga

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sagann/net"
	"sagann/net/local"
)

// TestFullDisk: the last checkpoint, if it finds the disk full, is tried again, then written to the scratch folder or that of temporary
// files, and the error names the place. After other errors it is written there at once.
func TestFullDisk(t *testing.T) {
	was, pause := fullFor, fullPause
	defer func() { fullFor, fullPause = was, pause }()
	fullPause = 5 * time.Millisecond
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, x := range []struct {
		name      string
		fails     int // so often, at its place
		scratch   bool
		err       error
		elsewhere string // part of the path
		tries     int    // at least
	}{
		{name: "room", err: full},
		{name: "room again", err: full, fails: 3, tries: 4},
		{name: "scratch", err: full, fails: 1e6, scratch: true, elsewhere: "scratch", tries: 2},
		{name: "temporary files", err: full, fails: 1e6, elsewhere: "tmp", tries: 2},
		{name: "a quota", err: &fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, fails: 1e6, scratch: true, elsewhere: "scratch"},
		{name: "no permission", err: &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, fails: 1e6, scratch: true, elsewhere: "scratch", tries: 1},
		{name: "a value", err: errors.New("a weight is NaN"), fails: 1e6, scratch: true, tries: 1},
	} {
		fullFor = 50 * time.Millisecond
		if x.fails < 1e6 { // there is room in the end
			fullFor = time.Minute
		}
		dir := t.TempDir()
		for _, name := range []string{"run", "scratch", "tmp"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
		tries, told := 0, 0
		s := saving{path: filepath.Join(dir, "run", "checkpoint"), bytes: 1 << 12, writes: true, again: true, full: func(error) { told++ }}
		s.scratch = filepath.Join(dir, "none")
		if x.scratch {
			s.scratch = filepath.Join(dir, "scratch")
		}
		s.save = func(path string) error {
			if path == s.path {
				if tries++; tries <= x.fails {
					return x.err
				}
			}
			return os.WriteFile(path, nil, 0o666)
		}
		if err := s.take(); err != nil {
			t.Fatal(err)
		}
		_, err := s.write(7, true)
		var other *ElsewhereError
		switch {
		case tries < x.tries:
			t.Errorf("%s: tried %d times", x.name, tries)
		case x.elsewhere != "":
			if !errors.As(err, &other) || !strings.HasPrefix(other.Path, filepath.Join(dir, x.elsewhere)) || !strings.Contains(err.Error(), other.Path) || !strings.Contains(err.Error(), s.path) || isFull(x.err) != (told == 1) {
				t.Errorf("%s: %v", x.name, err)
			} else if _, err := os.Stat(other.Path); err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		case x.fails < 1e6 && err != nil || x.fails == 1e6 && (!errors.Is(err, x.err) || tries != 1 || told > 0):
			t.Errorf("%s: %v, %d tries", x.name, err, tries)
		}
		if err := s.space.Close(); err != nil {
			t.Error(err)
		}
		if list, _ := filepath.Glob(filepath.Join(dir, "*", ".*")); len(list) > 0 {
			t.Errorf("%s: %v are left", x.name, list)
		}
	}
	s := saving{path: filepath.Join(t.TempDir(), "none", "x"), writes: true}
	if err := s.take(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", fmt.Sprint(err))
	}
}

// TestFullDiskGoesOn: a checkpoint that is not the last one ends nothing if it finds the disk full: it is written elsewhere, in place of
// an older one there, or left out, and the next one is written to its place if that has room. Other errors end the training.
func TestFullDiskGoesOn(t *testing.T) {
	was, pause := fullFor, fullPause
	defer func() { fullFor, fullPause = was, pause }()
	fullFor, fullPause = 20*time.Millisecond, 5*time.Millisecond
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	for _, again := range []bool{true, false} {
		var told []string
		full := map[string]bool{} // folders
		tries := 0
		s := saving{path: filepath.Join(dir, "checkpoint"), scratch: filepath.Join(dir, "scratch"), bytes: 100, writes: true, again: again,
			full: func(err error) { told = append(told, err.Error()) }}
		s.save = func(path string) error {
			if tries++; path == "" {
				return nil
			}
			if full[filepath.Dir(path)] {
				return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
			}
			return os.WriteFile(path, []byte(fmt.Sprint(s.epoch)), 0o666)
		}
		if err := os.MkdirAll(s.scratch, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := s.take(); err != nil {
			t.Fatal(err)
		}
		write := func(epoch int, last, placed bool, left int, says ...string) {
			t.Helper()
			told = nil
			got, err := s.write(epoch, last)
			if err != nil {
				told = append(told, err.Error())
			}
			if got != placed || (err != nil) != (last && !placed) {
				t.Errorf("epoch %d: %v, %v", epoch, got, err)
			}
			if text := strings.Join(told, "\n"); len(told) != len(says) {
				t.Errorf("epoch %d: said %q, want %q", epoch, text, says)
			}
			for i, want := range says {
				if i < len(told) && !strings.Contains(told[i], want) {
					t.Errorf("epoch %d: said %q, want %q", epoch, told[i], want)
				}
			}
			if list, _ := filepath.Glob(filepath.Join(s.scratch, "*")); len(list) != left {
				t.Errorf("epoch %d: %q are elsewhere, want %d", epoch, list, left)
			}
		}
		write(1, false, true, 0)
		full[dir] = true
		if !again {
			write(2, false, false, 0, "the last checkpoint is that after epoch 1, in "+s.path+"; training goes on")
			write(3, true, false, 0, "the last checkpoint is that after epoch 1")
			continue
		}
		write(2, false, false, 1, "tried again", "the checkpoint after epoch 2 is in "+s.scratch)
		before := tries
		write(3, false, false, 1)
		if tries != before+2 {
			t.Errorf("tried %d times where it was said before", tries-before)
		}
		delete(full, dir)
		write(4, false, true, 0)
		full[dir], full[s.scratch] = true, true
		write(5, false, false, 0, "tried again", "the last checkpoint is that after epoch 4, in "+s.path+"; training goes on")
		write(6, true, false, 0, "tried again", "the last checkpoint is that after epoch 4")
		s.save = func(string) error { return errors.New("a weight is NaN") }
		if _, err := s.write(7, false); err == nil || strings.Contains(err.Error(), "the last checkpoint") {
			t.Errorf("a wrong value: %v", err)
		}
	}
}

// A rank that cannot write the last checkpoint of rows that all ranks hold tells the others, which do not wait for its vote.
func TestFullDiskOfOneRank(t *testing.T) {
	_, links := local.New(2)
	errs := make([]error, len(links))
	var all sync.WaitGroup
	for r, l := range links {
		s := saving{path: filepath.Join(t.TempDir(), "checkpoint"), writes: r == 0, net: net.Over(l), full: func(error) {}}
		s.save = func(path string) error {
			if r == 0 && path != "" {
				return &fs.PathError{Op: "write", Path: path, Err: syscall.EIO}
			}
			return nil
		}
		all.Go(func() { _, errs[r] = s.write(3, true) })
	}
	all.Wait()
	if !errors.Is(errs[0], syscall.EIO) || errs[1] == nil || !strings.Contains(errs[1].Error(), "rank 0") {
		t.Errorf("errors %v", errs)
	}
}
