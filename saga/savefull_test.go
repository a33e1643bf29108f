package saga

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk: a checkpoint that finds the disk full is tried again, then written to the scratch folder or that of temporary files, and
// the error names the place. Other errors are told at once.
func TestFullDisk(t *testing.T) {
	was, pause := fullFor, fullPause
	defer func() { fullFor, fullPause = was, pause }()
	fullFor, fullPause = 50*time.Millisecond, 5*time.Millisecond
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
		{name: "scratch", err: full, fails: 1e6, scratch: true, elsewhere: "scratch", tries: 3},
		{name: "temporary files", err: full, fails: 1e6, elsewhere: "tmp", tries: 3},
		{name: "a quota", err: &fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, fails: 1e6, scratch: true, elsewhere: "scratch"},
		{name: "no permission", err: fs.ErrPermission, fails: 1e6, scratch: true, tries: 1},
	} {
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
		err := s.write(7)
		var other *ElsewhereError
		switch {
		case tries < x.tries:
			t.Errorf("%s: tried %d times", x.name, tries)
		case x.elsewhere != "":
			if !errors.As(err, &other) || !strings.HasPrefix(other.Path, filepath.Join(dir, x.elsewhere)) || !strings.Contains(err.Error(), other.Path) || !strings.Contains(err.Error(), s.path) || told != 1 {
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
