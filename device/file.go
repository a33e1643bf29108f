package device

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"sagann/internal/units"
)

// A HostFile is host memory that lies in a file on disk. Bytes is its memory as a slice. A
// device's copy from or to a part of Bytes reads or writes the file itself, so that
// the process's memory does not grow.
//
// The file has no name, so it is gone when the process ends for any reason. All of its disk
// space is taken when it is made: a full disk is an error of NewHostFile and not of a later call. A
// failed read or write of a copy is an asynchronous error of its queue. A disk error while the program
// reads or writes Bytes directly kills the process (SIGBUS), so large data should go by WriteAt.
//
// Parts of the file may be in memory as pages of the system's page cache. The system reclaims
// them when it needs memory, and no count of host memory includes them.
type HostFile struct {
	m     *mapping
	clean runtime.Cleanup
}

// mapping is the open file of a HostFile. Copies under way hold it, too.
type mapping struct {
	f    *os.File
	b    []byte
	once sync.Once
	err  error
}

// mappings lists the mappings of all open HostFiles. The list is replaced and never modified.
var (
	mappingsMu sync.Mutex
	mappings   atomic.Pointer[[]*mapping]
)

// NewHostFile makes host memory of so many bytes, all zero, in a file in folder dir; "" is the
// system's folder for temporary files. If the disk has too little room, the error names the folder,
// the bytes needed and the bytes free. It works on Linux only.
func NewHostFile(dir string, bytes int64) (*HostFile, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if bytes < 0 || bytes > math.MaxInt-Align || bytes > 1<<46 {
		return nil, fmt.Errorf("a file of %d bytes for host memory", bytes)
	}
	if err := CheckSpace(dir, bytes); err != nil {
		return nil, err
	}
	f, err := openNameless(dir)
	if err != nil {
		return nil, fmt.Errorf("a file for host memory in %s: %w", dir, err)
	}
	m := &mapping{f: f}
	if bytes > 0 {
		if err = takeSpace(f, bytes); err == nil {
			m.b, err = mapFile(f, int(bytes))
		}
		if err != nil {
			free, _ := FreeSpace(dir)
			return nil, errors.Join(fmt.Errorf("%s of host memory in a file in %s, where %s are free: %w", units.Size(bytes), dir, units.Size(free), err), f.Close())
		}
	}
	h := &HostFile{m: m}
	h.clean = runtime.AddCleanup(h, func(m *mapping) { m.close() }, m)
	change(func(list []*mapping) []*mapping { return append(list, m) })
	return h, nil
}

// CheckSpace returns an error if folder dir does not have room for so many bytes of files. It names
// dir, the bytes needed and the bytes free.
func CheckSpace(dir string, bytes int64) error {
	if dir == "" {
		dir = os.TempDir()
	}
	free, err := FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("host memory in files in %s: %w", dir, err)
	}
	if bytes > free {
		return fmt.Errorf("host memory in files in %s needs %s of disk, and %s are free there: another folder, or more host memory", dir, units.Size(bytes), units.Size(free))
	}
	return nil
}

// Bytes is the memory. It must not be touched after Close.
func (h *HostFile) Bytes() []byte { return h.m.b }

// WriteAt writes b to the memory from byte off on, without bringing it into the process.
func (h *HostFile) WriteAt(b []byte, off int64) (int, error) { return h.m.f.WriteAt(b, off) }

// Close frees disk and address space; no copy may be under way. The garbage collector closes a
// HostFile that is no longer referenced.
func (h *HostFile) Close() error {
	h.clean.Stop()
	return h.m.close()
}

func (m *mapping) close() error {
	m.once.Do(func() {
		change(func(list []*mapping) []*mapping {
			return slices.DeleteFunc(list, func(o *mapping) bool { return o == m })
		})
		if m.b != nil {
			m.err = unmapFile(m.b)
		}
		m.err = errors.Join(m.err, m.f.Close())
	})
	return m.err
}

// HostFiles counts the open HostFiles of the process and their bytes.
func HostFiles() (n int, bytes int64) {
	if list := mappings.Load(); list != nil {
		for _, m := range *list {
			n, bytes = n+1, bytes+int64(len(m.b))
		}
	}
	return n, bytes
}

func change(f func(list []*mapping) []*mapping) {
	mappingsMu.Lock()
	defer mappingsMu.Unlock()
	var list []*mapping
	if old := mappings.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = f(list)
	mappings.Store(&list)
}

// fileOf returns the mapping that b lies in, and b's offset there; nil when b is plain memory.
func fileOf(b []byte) (*mapping, int64) {
	list := mappings.Load()
	if list == nil || len(b) == 0 {
		return nil, 0
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for _, m := range *list {
		if len(m.b) == 0 {
			continue
		}
		lo := uintptr(unsafe.Pointer(unsafe.SliceData(m.b)))
		if at >= lo && at+uintptr(len(b)) <= lo+uintptr(len(m.b)) {
			return m, int64(at - lo)
		}
	}
	return nil, 0
}

// stageBytes is the size of the pinned buffer through which a queue of a GPU copies from and to files.
const stageBytes = 8 << 20

// Staging is the bytes of host memory that the devices of spec take for copies from and
// to a HostFile: a buffer for each direction on each GPU, none on other devices.
func Staging(spec string) int64 {
	kind, index, err := Parse(spec)
	if err != nil || kind != "cuda" {
		return 0
	}
	return 2 * stageBytes * int64(len(index))
}

// Drop unmaps the pages of b from the process's memory, if b lies in a HostFile. Their contents stay
// in the file.
func Drop(b []byte) {
	if m, _ := fileOf(b); m != nil {
		dropPages(b)
	}
}

// Rows of a file that lie closer than rowsGap bytes are read together, at most rowsRead
// bytes at a time: a disk reads whole blocks anyway.
const (
	rowsGap  = 16 << 10
	rowsRead = 256 << 10
)

// together is how many of the first rows are read at once.
func together(rows []uint32, rowBytes, most int64) int {
	n := 1
	for n < len(rows) && (int64(rows[n])-int64(rows[0])+1)*rowBytes <= most &&
		(int64(rows[n])-int64(rows[n-1])-1)*rowBytes <= rowsGap {
		n++
	}
	return n
}

// readRows reads rows to their places in dst. Row 0 begins at byte off of the file.
func (m *mapping) readRows(dst []byte, off, rowBytes int64, rows []uint32) error {
	var room []byte
	for len(rows) > 0 {
		n := together(rows, rowBytes, rowsRead)
		first, end := int64(rows[0])*rowBytes, (int64(rows[n-1])+1)*rowBytes
		if end-first == int64(n)*rowBytes { // all rows between first and end are wanted
			if _, err := m.f.ReadAt(dst[first:end], off+first); err != nil {
				return err
			}
		} else {
			if room == nil {
				room = make([]byte, max(rowsRead, rowBytes))
			}
			if _, err := m.f.ReadAt(room[:end-first], off+first); err != nil {
				return err
			}
			for _, r := range rows[:n] {
				at := int64(r) * rowBytes
				copy(dst[at:at+rowBytes], room[at-first:])
			}
		}
		rows = rows[n:]
	}
	return nil
}
