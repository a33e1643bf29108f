package cudatest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"sagann/device"
)

// server is a running program; it runs one launch after the other, until its input ends.
type server struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	errors  bytes.Buffer
}

// memory is bytes, and the address at which kernels see them.
type memory struct {
	at    uint64
	bytes []byte
}

// errOccupied says that the process uses the address of memory for something else. Nothing ran, so
// another process, which uses other addresses, can run the launch.
var errOccupied = errors.New("the memory's place is taken")

// exitOccupied is the exit status for errOccupied (occupied in threads.h).
const exitOccupied = 9

func start(p *program) (s *server, err error) {
	s = &server{command: exec.Command(p.path)}
	s.command.Stderr = &s.errors
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.command.StdoutPipe(); err != nil {
		return nil, err
	}
	return s, s.command.Start()
}

// run runs a kernel over the arena, which it may change, and host memory. After an error the
// program has ended.
func (s *server) run(kernel int, c *device.Call, arena memory, host []memory) error {
	u64 := binary.LittleEndian.AppendUint64
	head := u64(nil, uint64(kernel))
	for _, x := range []uint32{c.Grid[0], c.Block, c.Shared, uint32(len(c.Args))} {
		head = u64(head, uint64(x))
	}
	for _, a := range c.Args {
		head = u64(head, a)
	}
	_, err := s.in.Write(u64(head, uint64(1+len(host))))
	for _, m := range append([]memory{arena}, host...) {
		if err == nil {
			_, err = s.in.Write(u64(u64(nil, m.at), uint64(len(m.bytes))))
		}
		if err == nil {
			_, err = s.in.Write(m.bytes)
		}
	}
	if err == nil {
		after := make([]byte, len(arena.bytes))
		if _, err = io.ReadFull(s.out, after); err == nil {
			change(arena.bytes, after)
			return nil
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
	const block = 64
	for at := 0; at < len(arena); at += block {
		end := min(at+block, len(arena))
		if !bytes.Equal(arena[at:end], after[at:end]) {
			copy(arena[at:end], after[at:end])
		}
	}
}
