package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// hangUpIgnored tells whether the process was started with SIGHUP ignored, as nohup does. It is asked before anything
// handles the signal.
var hangUpIgnored = signal.Ignored(syscall.SIGHUP)

// EndSignals are the signals that ask the process to end: SIGINT, SIGTERM, those by which batch systems warn of a time limit, and
// SIGHUP, which a lost connection sends. SIGHUP is left out if the process was started with it ignored.
func EndSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGXCPU}
	if !hangUpIgnored {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// ends is who is told of EndSignals.
var ends struct {
	sync.Mutex
	from chan os.Signal // nil: Unheeded was not called
	told []chan<- os.Signal
}

// Unheeded has do called, which ends the process, at each of EndSignals for which nothing waits by Heed. It is called once, as the process
// begins. Signals that the process was started with ignored, as SIGINT is behind & in a script, stay so.
func Unheeded(do func()) {
	list := slices.DeleteFunc(EndSignals(), signal.Ignored)
	from := make(chan os.Signal, 8)
	ends.from = from
	if len(list) > 0 { // without a list all signals are meant
		signal.Notify(from, list...)
	}
	go func() {
		for s := range from {
			if b, ok := s.(barrier); ok {
				close(b.passed)
				continue
			}
			ends.Lock()
			told := slices.Clone(ends.told)
			ends.Unlock()
			for _, c := range told {
				select {
				case c <- s:
				default: // as many are under way as c holds
				}
			}
			if len(told) == 0 && slices.Contains(list, s) {
				do()
			}
		}
	}()
}

// barrier goes the way of signals: what came before it has reached those who wait when it has passed.
type barrier struct{ passed chan struct{} }

func (barrier) Signal()        {}
func (barrier) String() string { return "barrier" }

// Heed sends EndSignals to c, which has room for some, until stop is called.
func Heed(c chan os.Signal) (stop func()) {
	ends.Lock()
	defer ends.Unlock()
	if ends.from == nil {
		signal.Notify(c, EndSignals()...)
		return func() { signal.Stop(c) }
	}
	signal.Notify(ends.from, EndSignals()...)
	ends.told = append(ends.told, c)
	return func() {
		last := make(chan os.Signal, 1) // as signal.Stop waits for signals that are under way, so does this, and then for those in ends.from
		signal.Notify(last, os.Interrupt)
		signal.Stop(last)
		b := barrier{make(chan struct{})}
		ends.from <- b
		<-b.passed
		ends.Lock()
		defer ends.Unlock()
		ends.told = slices.DeleteFunc(ends.told, func(o chan<- os.Signal) bool { return o == c })
	}
}

// oneWish is the time within which several signals are one: a terminal that is closed sends SIGHUP, and so does its shell;
// launchers pass on what the terminal has sent to all processes.
const oneWish = time.Second

// UntilSignal is a context that the first of EndSignals cancels. A SIGINT or SIGTERM more than a second after it ends the process.
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	unheeded := Heed(signals)
	over := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-over:
				return
			case s := <-signals:
				switch {
				case first.IsZero():
					first = time.Now()
					cancel()
				case (s == os.Interrupt || s == syscall.SIGTERM) && time.Since(first) > oneWish:
					signal.Reset(s)
					if p, err := os.FindProcess(os.Getpid()); err == nil {
						_ = p.Signal(s)
					}
				}
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		unheeded()
		close(over)
		cancel()
	})
}

// Interruptible is UntilSignal for what ends with an epoch, which it says.
func Interruptible(a *App) (ctx context.Context, stop func()) {
	ctx, end := UntilSignal()
	quiet := context.AfterFunc(ctx, func() { a.Log.Warn("finishing the epoch in hand; interrupt again to stop at once") })
	return ctx, func() { quiet(); end() }
}

// Output is standard output. The first write to a pipe that nobody reads any more ends the process, as SIGPIPE would,
// unless Kept is set; then it is an error.
type Output struct {
	File *os.File
	Kept bool   // the process has more to do than to print
	rest []byte // the beginning of a character that a write has cut
}

// NewOutput is stdout as an Output. From then on, writing to a broken pipe sends no SIGPIPE: a process whose standard
// error is closed goes on without it.
func NewOutput(stdout *os.File) *Output {
	withoutPipeSignal()
	return &Output{File: stdout}
}

// withoutPipeSignal makes writes to broken pipes return EPIPE: the channel is never read.
var withoutPipeSignal = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) })

// brokenPipe is the exit status of a process that SIGPIPE ends, as shells tell it.
const brokenPipe = 128 + int(syscall.SIGPIPE)

// Write writes b, as Plain.
func (o *Output) Write(b []byte) (int, error) {
	n, all := len(b), append(o.rest, b...)
	end := len(all)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(all[i]) && !utf8.FullRune(all[i:]) {
			end = i
		}
	}
	text := Plain(string(all[:end]))
	o.rest = append([]byte(nil), all[end:]...)
	wrote, err := o.File.WriteString(text)
	if err != nil {
		n = min(n, wrote)
	}
	if errors.Is(err, syscall.EPIPE) && !o.Kept {
		os.Exit(brokenPipe)
	}
	return n, err
}

// Quiet is a writer to w whose writes do not fail: for text that a process can go on without.
func Quiet(w io.Writer) io.Writer { return quiet{w} }

type quiet struct{ w io.Writer }

func (q quiet) Write(b []byte) (int, error) {
	_, _ = q.w.Write(b)
	return len(b), nil
}
