package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// App is what commands run with.
type App struct {
	Stdout io.Writer
	Stderr *os.File
	Log    *slog.Logger
	Given  map[string]bool // flags that stand in the command line
	Runs   context.Context // of a benchmark that trains: done when a signal has asked it to stop; nil before
}

// UsageError is a mistake in the command line.
type UsageError struct{ err error }

// Error is the mistake.
func (e UsageError) Error() string { return e.err.Error() }

// Unwrap is what Usage was given.
func (e UsageError) Unwrap() error { return e.err }

// Usage makes err a mistake in the command line.
func Usage(err error) error { return UsageError{err} }

// Usagef is fmt.Errorf of a mistake in the command line.
func Usagef(format string, a ...any) error { return UsageError{fmt.Errorf(format, a...)} }

// Interruptible is a context that the first SIGINT or SIGTERM cancels; the second
// ends the process.
func Interruptible(a *App) (ctx context.Context, stop func()) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	quiet := context.AfterFunc(ctx, func() {
		cancel()
		a.Log.Warn("finishing the epoch in hand; interrupt again to stop at once")
	})
	return ctx, func() { quiet(); cancel() }
}
