package runfolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
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

// RepeatFile is the file that makes a folder that of several runs. The runs lie in folders seed-1 and so on below it.
const RepeatFile = "repeat.json"

// NotRun says that dir has no ConfigFile, and what it is where it is the folder of several runs.
func NotRun(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, RepeatFile)); err == nil {
		if runs, _ := filepath.Glob(filepath.Join(dir, "seed-*")); len(runs) > 0 {
			return fmt.Errorf("%s: the folder of several runs, by seed: %s is one of them", dir, runs[0])
		}
		return fmt.Errorf("%s: the folder of several runs, none of which has begun", dir)
	}
	return fmt.Errorf("%s: not the folder of a run: it has no %s", dir, ConfigFile)
}

// CreateAt makes the folder dir itself. An existing folder is used if it is empty, apart from temporary files of a killed
// process, or if it is that of a run which ended before it had the file saved; otherwise it is an error. lock takes the
// folder for this process, before anything in it is judged or removed.
func CreateAt(dir, saved string, lock func(dir string) error) (*Folder, error) {
	f := &Folder{dir}
	err := os.MkdirAll(dir, 0o777)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%s: not a folder", dir)
	}
	if err == nil {
		err = lock(dir)
	}
	if err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, temporary)
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	switch {
	case has(ConfigFile) && has(saved):
		return nil, fmt.Errorf("%s: the folder of a run, which would be overwritten: --resume %[1]s goes on with it, another --out begins a new one", dir)
	case len(list) > 0 && !has(ConfigFile):
		return nil, fmt.Errorf("%s: the folder is not empty and would be overwritten (it holds %s)", dir, list[0].Name())
	}
	return f, f.Tidy()
}

// Open returns the folder of an earlier run. It must have a config.json.
func Open(dir string) (*Folder, error) {
	f := &Folder{dir}
	if _, err := os.Stat(f.Path(ConfigFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, NotRun(dir)
		}
		return nil, err
	}
	return f, nil
}

// Tidy removes temporary files that a killed process left in the folder. The caller must have locked
// the folder, as otherwise temporary files of another process could be lost.
func (f *Folder) Tidy() error {
	list, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !temporary(e) {
			continue
		}
		if err := os.Remove(f.Path(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// temporary tells whether e is a file that will be renamed when it is whole: .NAME.tmp-NUMBER, as all writers of a run name it.
func temporary(e fs.DirEntry) bool {
	_, number, ok := strings.Cut(e.Name(), ".tmp-")
	return ok && e.Name()[0] == '.' && e.Type().IsRegular() && number != "" && strings.Trim(number, "0123456789abcdef-") == ""
}

// Path is the path of the file name in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// WriteConfig writes v to config.json as WriteJSON does.
func (f *Folder) WriteConfig(v any) error { return f.WriteJSON(ConfigFile, v) }

// WriteJSON writes v as indented JSON, with its checksum, to the file name in the folder. The file is whole or
// absent, whenever the process is killed.
func (f *Folder) WriteJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(name), err)
	}
	return writeWhole(f.Path(name), seal(append(text, '\n')))
}

// ReadConfig reads config.json into v. A key without a field in v is an error, as the setting would be lost
// silently. edited tells that the file is another one than the run has written.
func (f *Folder) ReadConfig(v any) (edited bool, err error) {
	path := f.Path(ConfigFile)
	text, err := regular.ReadFile(path, 1<<30)
	if err != nil {
		return false, err
	}
	plain, edited := Unseal(text)
	d := json.NewDecoder(bytes.NewReader(plain))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return edited, fmt.Errorf("%s: byte %d: %w", path, d.InputOffset(), err)
	}
	if rest := bytes.TrimSpace(plain[d.InputOffset():]); len(rest) > 0 {
		return edited, fmt.Errorf("%s: byte %d: %q after the settings", path, d.InputOffset(), rest[:min(len(rest), 20)])
	}
	return edited, nil
}

// Log opens log.txt for appending; the caller closes it.
func (f *Folder) Log() (*os.File, error) {
	return regular.Append(f.Path(LogFile))
}

// writeWhole replaces the file at path by text, through a temporary file that is
// synced and renamed.
func writeWhole(path string, text []byte) (err error) {
	dir, base := filepath.Split(path)
	tmp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-%08x", base, os.Getpid(), rand.Uint32()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
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
