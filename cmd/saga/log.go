package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"sagann/internal/cli"
)

// newLogger logs to w a line for people each, coloured on a terminal.
func newLogger(w *os.File) *slog.Logger {
	plain := !isatty.IsTerminal(w.Fd()) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return slog.New(tint.NewTextHandler(w, &tint.Options{TimeFormat: time.TimeOnly, NoColor: plain, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindString { // names in files are not to be trusted
			a.Value = slog.StringValue(cli.Plain(a.Value.String()))
		}
		return a
	}}))
}

// fileHandler logs to a file that programs may read, too, with what is too much for people.
func fileHandler(w io.Writer) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
}

// alsoTo adds w, the log file of a run, to where l goes.
func alsoTo(l *slog.Logger, w io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(l.Handler(), fileHandler(w)))
}
