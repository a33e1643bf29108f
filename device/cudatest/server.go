package cudatest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"unsafe"

	"sagann/device"
)

// server is a running program; it runs one launch after the other, until its input ends.
type server struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	errors  bytes.Buffer
	host    []memory // what it has been sent last
}

// mirror is a file without a name that all programs of a device map: the device's memory during a launch.
type mirror struct {
	file  *os.File
	after []byte // what was read from it last
}

// newMirror makes a file of so many bytes, in memory where the system has a folder for that.
func newMirror(bytes int) (*mirror, error) {
	f, err := os.CreateTemp("/dev/shm", "sagann-*")
	if err != nil {
		f, err = os.CreateTemp("", "sagann-*")
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(f.Name()), f.Truncate(int64(bytes))); err != nil {
		f.Close()
		return nil, err
	}
	return &mirror{f, make([]byte, bytes)}, nil
}

// memory is bytes, and the address at which kernels see them.
type memory struct {
	at    uint64
	bytes []byte
}

// same reports whether o is the same memory. What a block holds does not change.
func (m memory) same(o memory) bool {
	return m.at == o.at && len(m.bytes) == len(o.bytes) && unsafe.SliceData(m.bytes) == unsafe.SliceData(o.bytes)
}

// errOccupied says that the process uses the address of memory for something else. Nothing ran, so
// another process, which uses other addresses, can run the launch.
var errOccupied = errors.New("the memory's place is taken")

// exitOccupied is the exit status for errOccupied (occupied in threads.h).
const exitOccupied = 9

// start starts a program that maps m at this address.
func start(p *program, m *mirror, at uint64) (s *server, err error) {
	s = &server{command: exec.Command(p.path, fmt.Sprint(at), fmt.Sprint(len(m.after)))}
	s.command.Stderr, s.command.ExtraFiles = &s.errors, []*os.File{m.file}
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.command.StdoutPipe(); err != nil {
		return nil, err
	}
	return s, s.command.Start()
}

// unchanged stands for the number of blocks of host memory where they are those of the launch before.
const unchanged = math.MaxUint64

// run runs a kernel over the arena, which it may change, and host memory. After an error the
// program has ended.
func (s *server) run(kernel int, c *device.Call, m *mirror, arena []byte, host []memory) error {
	u64 := binary.LittleEndian.AppendUint64
	head := u64(nil, uint64(kernel))
	for _, x := range []uint32{c.Grid[0], c.Grid[1], c.Block, c.Shared, uint32(len(c.Args))} {
		head = u64(head, uint64(x))
	}
	for _, a := range c.Args {
		head = u64(head, a)
	}
	_, err := m.file.WriteAt(arena, 0)
	if slices.EqualFunc(s.host, host, memory.same) {
		host, head = nil, u64(head, unchanged)
	} else {
		s.host, head = host, u64(head, uint64(len(host)))
	}
	if err == nil {
		_, err = s.in.Write(head)
	}
	for _, m := range host {
		if err == nil {
			_, err = s.in.Write(u64(u64(nil, m.at), uint64(len(m.bytes))))
		}
		if err == nil {
			_, err = s.in.Write(m.bytes)
		}
	}
	if err == nil {
		if _, err = io.ReadFull(s.out, make([]byte, 1)); err == nil {
			if _, err = m.file.ReadAt(m.after, 0); err == nil {
				change(arena, m.after)
				return nil
			}
		}
	}
	if how := s.end(); how != nil {
		err = how
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitOccupied {
		return errOccupied
	}
	return fmt.Errorf("%w: %s", err, s.errors.Bytes())
}

// end ends the program.
func (s *server) end() error {
	s.in.Close() // an error means that the program has ended; Wait reports that
	return s.command.Wait()
}

// change copies after to arena where they differ: other devices may read what the kernel leaves alone meanwhile.
func change(arena, after []byte) {
	const page, block = 4096, 64
	for at := 0; at < len(arena); at += page {
		end := min(at+page, len(arena))
		if bytes.Equal(arena[at:end], after[at:end]) {
			continue
		}
		for ; at < end; at += block {
			if to := min(at+block, end); !bytes.Equal(arena[at:to], after[at:to]) {
				copy(arena[at:to], after[at:to])
			}
		}
		at = end - page
	}
}
