package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// newLogger logs to w: coloured on a terminal, plain elsewhere.
func newLogger(w *os.File) *slog.Logger { return slog.New(logHandler(w)) }

func logHandler(w *os.File) slog.Handler {
	if isatty.IsTerminal(w.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		return tint.NewTextHandler(w, &tint.Options{TimeFormat: time.TimeOnly})
	}
	return plainHandler(w)
}

func plainHandler(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) }

// alsoTo adds w, the log file of a run, to where l goes.
func alsoTo(l *slog.Logger, w io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(l.Handler(), plainHandler(w)))
}
