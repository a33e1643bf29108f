package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
)

// App is passed to all commands.
type App struct {
	Stdout io.Writer
	Stderr *os.File
	Log    *slog.Logger
	Given  map[string]bool // flags given in the command line
	Runs   context.Context // for a benchmark that trains: done when a signal has asked it to stop; nil before
}

// UsageError is a mistake in the command line.
type UsageError struct{ err error }

// Error is the text of the mistake.
func (e UsageError) Error() string { return e.err.Error() }

// Unwrap is the argument of Usage.
func (e UsageError) Unwrap() error { return e.err }

// Usage marks err as a mistake in the command line.
func Usage(err error) error { return UsageError{err} }

// Usagef is fmt.Errorf for a mistake in the command line.
func Usagef(format string, a ...any) error { return UsageError{fmt.Errorf(format, a...)} }
