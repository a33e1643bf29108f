package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
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

// Idle logs those of the flags that were given; on says what they have no effect on.
func (a *App) Idle(on string, flags ...string) {
	var list []string
	for _, name := range flags {
		if a.Given[name] {
			list = append(list, "--"+name)
		}
	}
	if len(list) > 0 {
		a.Log.Warn("flags that have no effect on " + on + ": " + strings.Join(list, ", "))
	}
}
