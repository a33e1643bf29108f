package device

import (
	"fmt"
	"time"
)

// Op names a method of Device in errors, spans and faults.
type Op uint8

// The calls of a device.
const (
	OpAny Op = iota // in a Fault: calls of every kind
	OpAlloc
	OpFree
	OpHostAlloc
	OpHostFree
	OpNewQueue
	OpNewEvent
	OpH2D
	OpD2H
	OpD2D
	OpLaunch
	OpRecord
	OpWait
	OpSync
	OpCompile // GPUs only
)

var opNames = [...]string{
	OpAny: "any", OpAlloc: "alloc", OpFree: "free", OpHostAlloc: "host alloc", OpHostFree: "host free",
	OpNewQueue: "new queue", OpNewEvent: "new event", OpH2D: "copy h2d", OpD2H: "copy d2h", OpD2D: "copy d2d",
	OpLaunch: "launch", OpRecord: "record", OpWait: "wait", OpSync: "sync",
	OpCompile: "compile",
}

// String returns the op's name as errors print it.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Ops returns the calls of a Device that a Fault can choose, without OpAny. A GPU
// has OpCompile beside them.
func Ops() []Op {
	var ops []Op
	for o := OpAny + 1; o <= OpSync; o++ {
		ops = append(ops, o)
	}
	return ops
}

// task reports whether the op is queued work, which can fail asynchronously.
func (o Op) task() bool { return o >= OpH2D && o <= OpWait }

// work reports whether the op moves or computes something.
func (o Op) work() bool { return o >= OpH2D && o <= OpLaunch }

// A Span is the run of one copy or launch.
type Span struct {
	Device Info
	Queue  string
	Op     Op            // OpH2D, OpD2H, OpD2D or OpLaunch
	Kernel string        // a launch's kernel
	Tag    int64         // the queue's tag at submission
	Bytes  int64         // copied
	Start  time.Duration // since a moment that all devices of the process share
	End    time.Duration
}

// zero is the moment that spans count from.
var zero = time.Now()

func now() time.Duration { return time.Since(zero) }
