package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sagann/internal/units"
)

// System is what a driver knows of the GPUs of this host before any of them is opened. GPUs are
// numbered from 0, as in the names of devices ("cuda:0"). CUDASystem returns that of CUDA.
type System interface {
	// GPUs is the number of GPUs.
	GPUs() int
	// Name is the name of the hardware.
	Name(gpu int) (string, error)
	// Bus is the PCI address, such as 0000:17:00.0.
	Bus(gpu int) (string, error)
	// Peer says how copies go from one GPU to another.
	Peer(from, to int) (PeerAccess, error)
	// Card is what is known of the GPU now, its free memory and who uses it among that. What this process has opened
	// beside arenas counts as free. Where the driver tells only programs that have opened the GPU, the call opens it
	// for a short time, and what that takes does not count as free.
	Card(gpu int) (Card, error)
}

// Card is a GPU as the driver describes it.
type Card struct {
	Name   string // of the hardware
	Bus    string // PCI address; "": not known
	Driver string // version, such as 580.159.04; "": not known
	Watts  int    // power limit; 0: not known
	Total  int64  // bytes of memory
	Free   int64  // bytes of it that nobody uses
	Users  []User // other processes that use it, as far as this one may see them
}

// User is a process that uses a GPU.
type User struct {
	PID   int
	Name  string // "": not known
	Bytes int64  // of the GPU's memory; 0: not known
}

// String is the card, how much of its memory is free, and who uses it.
func (c *Card) String() string {
	text := fmt.Sprintf("%s has %s of memory, of which %s are free", c.Name, units.Size(c.Total), units.Size(max(0, c.Free)))
	var users []string
	for _, u := range c.Users {
		users = append(users, u.String())
	}
	if len(users) > 0 {
		text += "; it is used by " + strings.Join(users, ", ")
	}
	if len(c.Users) == 0 && c.Total-c.Free > c.Total/50 {
		text += "; who uses the rest cannot be seen from here (nvidia-smi may tell)"
	}
	return text
}

// contextBytes is what a GPU takes for a process that opens it, beside the arena: context and libraries.
const contextBytes = 690 << 20

// Arena is the bytes of an arena for work that takes what there is: nine tenths of what is free beside a context, but
// at least a byte, so that opening the GPU says what is wrong.
func (c *Card) Arena() int64 { return max(1, (c.Free-contextBytes)/10*9) }

// String is the process, by number and name, and what it has.
func (u User) String() string {
	text := fmt.Sprint("process ", u.PID)
	if u.Name != "" {
		text += " (" + u.Name + ")"
	}
	if u.Bytes > 0 {
		text += " with " + units.Size(u.Bytes)
	}
	return text
}

// A MemoryError says that a GPU has not as much free memory as was asked for.
type MemoryError struct {
	Device string // such as cuda:0
	Asked  int64  // bytes
	Card   Card
	Err    error // of the driver; nil: it was not asked
}

// Error says what was asked for, what there is, who has the rest, and what would work.
func (e *MemoryError) Error() string {
	text := fmt.Sprintf("%s: %s of memory were asked for, and %s", e.Device, units.Size(e.Asked), &e.Card)
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	if e.Card.Free > 0 && e.Card.Free < e.Asked {
		return text + fmt.Sprintf("; --mem %dMiB or less plans within what is free now, --device takes another GPU", e.Card.Free>>20)
	}
	return text + "; end what uses the memory, or take another GPU (--device)"
}

// Unwrap is the driver's error.
func (e *MemoryError) Unwrap() error { return e.Err }

// Seen is the names of the NVIDIA GPUs of this host as the system lists them, without a call of a driver. nil: there
// are none, or the system does not tell.
func Seen() (names []string) { return seenIn("/proc/driver/nvidia/gpus") }

func seenIn(folder string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(folder, "*", "information"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		name := "NVIDIA GPU"
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "Model" {
				name = strings.TrimSpace(value)
			}
		}
		names = append(names, name)
	}
	return names
}

// PeerAccess is the way from the memory of one GPU to that of another.
type PeerAccess uint8

// The ways between two GPUs.
const (
	PeerNone PeerAccess = iota // through host memory
	PeerBus                    // over the PCI tree
	PeerLink                   // over a link of their own, NVLink: one that carries atomic operations
)
