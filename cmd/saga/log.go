package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"sagann/internal/cli"
)

// newLogger logs to w a line for people each, coloured on a terminal.
func newLogger(w *os.File) *slog.Logger {
	plain := !isatty.IsTerminal(w.Fd()) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return slog.New(inWords{tint.NewTextHandler(w, &tint.Options{TimeFormat: time.TimeOnly, NoColor: plain})})
}

// inWords writes the names and values behind a message as words: "message: name value; name value".
type inWords struct{ slog.Handler }

// Handle writes a record. Names in files are not to be trusted.
func (h inWords) Handle(ctx context.Context, r slog.Record) error {
	text, between := r.Message, ": "
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.String()
		if strings.Contains(value, "\n") {
			value = strconv.Quote(value)
		}
		text += between + a.Key + " " + value
		between = "; "
		return true
	})
	return h.Handler.Handle(ctx, slog.NewRecord(r.Time, r.Level, cli.Plain(text), r.PC))
}

// fileHandler logs to a file that programs may read, too, with what is too much for people.
func fileHandler(w io.Writer) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
}

// alsoTo adds w, the log file of a run, to where l goes.
func alsoTo(l *slog.Logger, w io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(l.Handler(), fileHandler(w)))
}
