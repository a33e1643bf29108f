package cli

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestUnheeded: a signal goes to those that wait for it, and if nobody does, to what ends the process.
func TestUnheeded(t *testing.T) {
	before := make(chan os.Signal, 1)
	stop := Heed(before) // without Unheeded
	kill(t, before)
	stop()
	done := make(chan os.Signal, 1)
	Unheeded(func() { done <- syscall.SIGUSR1 })
	t.Cleanup(func() { signal.Stop(ends.from); ends.from = nil })
	kill(t, done)
	a, b := make(chan os.Signal, 1), make(chan os.Signal, 1)
	stopA, stopB := Heed(a), Heed(b)
	kill(t, a)
	<-b
	stopA()
	kill(t, b)
	if len(a)+len(done) > 0 {
		t.Error("a signal went to more than one who waits")
	}
	stopB()
	kill(t, done)
	ctx, end := UntilSignal()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	end()
	if len(done) > 0 {
		t.Error("a context was cancelled, and the process is ended")
	}
	kill(t, done)
}

// kill sends a signal to this process, and waits until it has come out of c.
func kill(t *testing.T, c <-chan os.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("no signal")
	}
}
