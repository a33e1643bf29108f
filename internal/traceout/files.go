package traceout

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Names of the files that WriteDir makes.
const (
	JSONFile    = "trace.json"
	ProfileFile = "trace.pb.gz"
)

// WriteDir writes trace.json and trace.pb.gz into the folder dir, which is made when
// it is missing. Old files of these names are replaced; each is whole or absent.
func (t *Trace) WriteDir(dir string) error {
	if err := t.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := writeFile(dir, JSONFile, t.WriteJSON); err != nil {
		return err
	}
	return writeFile(dir, ProfileFile, t.WriteProfile)
}

// writeFile writes through a temporary file that is renamed.
func writeFile(dir, name string, write func(io.Writer) error) error {
	tmp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-%08x", name, os.Getpid(), rand.Uint32()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(tmp, filepath.Join(dir, name))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp))
	}
	return err
}
