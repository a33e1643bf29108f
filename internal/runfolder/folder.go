package runfolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sagann/internal/regular"
)

// Names of the files in a run folder.
const (
	ConfigFile  = "config.json"
	LogFile     = "log.txt"
	MetricsFile = "metrics.csv"
)

const prefix = "saga-run-"

// Folder is the folder of one run.
type Folder struct {
	Dir string
}

// Create makes a new folder saga-run-NNNN in parent, which is made too when it is
// missing. The number is one more than the highest there, so that names stand in
// the order of the runs; two processes never get the same.
func Create(parent string) (*Folder, error) {
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	next := 1
	for _, e := range list {
		tail, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.Atoi(tail); ok && err == nil && n >= next && n < 1e9 {
			next = n + 1
		}
	}
	for {
		dir := filepath.Join(parent, fmt.Sprintf("%s%04d", prefix, next))
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			return &Folder{dir}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		next++ // another process was faster
	}
}

// CreateAt makes the folder dir itself. An existing folder is used
// if it is empty; otherwise it is an error.
func CreateAt(dir string) (*Folder, error) {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(dir, 0o777)
	case errors.Is(err, syscall.ENOTDIR):
		err = fmt.Errorf("%s: not a folder", dir)
	case err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == ConfigFile }):
		err = fmt.Errorf("%s: the folder of a run, which would be overwritten: --resume %[1]s goes on with it, another --out begins a new one", dir)
	case err == nil && len(list) > 0:
		err = fmt.Errorf("%s: the folder is not empty and would be overwritten (it holds %s)", dir, list[0].Name())
	}
	if err != nil {
		return nil, err
	}
	return &Folder{dir}, nil
}

// Open returns the folder of an earlier run. It must have a config.json.
func Open(dir string) (*Folder, error) {
	f := &Folder{dir}
	if _, err := os.Stat(f.Path(ConfigFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: not the folder of a run: it has no %s", dir, ConfigFile)
		}
		return nil, err
	}
	return f, nil
}

// Tidy removes temporary files that a killed process left in the folder. The caller must have locked
// the folder, as otherwise temporary files of another process could be lost.
func (f *Folder) Tidy() error {
	stale, err := filepath.Glob(filepath.Join(escape(f.Dir), ".*.tmp-*"))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// Path is the path of the file name in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// WriteConfig writes v to config.json as WriteJSON does.
func (f *Folder) WriteConfig(v any) error { return f.WriteJSON(ConfigFile, v) }

// WriteJSON writes v as indented JSON to the file name in the folder. The file is whole or
// absent, whenever the process is killed.
func (f *Folder) WriteJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(name), err)
	}
	return writeWhole(f.Path(name), append(text, '\n'))
}

// ReadConfig reads config.json into v. A key without a field in v is an error, as the setting would be lost
// silently.
func (f *Folder) ReadConfig(v any) error {
	in, err := regular.Open(f.Path(ConfigFile))
	if err != nil {
		return err
	}
	defer in.Close()
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: byte %d: %w", f.Path(ConfigFile), d.InputOffset(), err)
	}
	return nil
}

// Log opens log.txt for appending; the caller closes it.
func (f *Folder) Log() (*os.File, error) {
	return os.OpenFile(f.Path(LogFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
}

// writeWhole replaces the file at path by text, through a temporary file that is
// synced and renamed.
func writeWhole(path string, text []byte) (err error) {
	dir, base := filepath.Split(path)
	tmp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d", base, os.Getpid()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// escape makes a path that a glob pattern matches as it stands.
func escape(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}
