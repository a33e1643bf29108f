package runpage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"sagann/internal/regular"
	"sagann/internal/runfolder"
	"sagann/internal/units"
)

// Run is the data of a run that a page shows.
type Run struct {
	Name     string // of the folder
	Epochs   []runfolder.Epoch
	Settings []Fact
	Columns  []string // names of the columns of features; nil: they have none
	Record   *Record  // nil: an older version wrote none, or the run has not ended

	timeline *timeline // nil: no trace is in the folder
}

// Read reads the run in the folder dir. It changes nothing there, so the run may still be going on.
func Read(dir string) (*Run, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: filepath.Base(path)}
	if r.Settings, r.Columns, err = readSettings(dir); err != nil {
		return nil, err
	}
	epochs := 0
	if r.Record, err = readRecord(filepath.Join(dir, RecordFile)); err != nil {
		return nil, err
	} else if r.Record != nil {
		epochs = r.Record.Epochs
	}
	r.timeline = readTimeline(dir)
	if r.Epochs, err = runfolder.ReadMetricsTo(dir, epochs); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return r, nil
}

// readRecord reads report.json; nil if there is none.
func readRecord(name string) (r *Record, err error) {
	text, err := regular.ReadFile(name, 1<<30)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	plain, edited := runfolder.Unseal(text)
	if edited {
		return nil, fmt.Errorf("%s: the file is damaged: its checksum is that of another text; saga report makes the page without it", name)
	}
	if err := json.Unmarshal(plain, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r != nil && !r.Classes.fit() {
		return nil, fmt.Errorf("%s: the counts of classes are not of one number of classes", name)
	}
	return r, nil
}

// readSettings are the settings of config.json in their order, and the names of the columns of features.
func readSettings(dir string) (list []Fact, columns []string, err error) {
	name := filepath.Join(dir, runfolder.ConfigFile)
	text, err := regular.ReadFile(name, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, runfolder.NotRun(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	plain, _ := runfolder.Unseal(text)
	var all struct {
		Settings json.RawMessage `json:"settings"`
		Schema   struct {
			Features struct{ Columns []struct{ Name string } }
		}
	}
	if err := json.Unmarshal(plain, &all); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if list, err = inOrder(all.Settings); err != nil {
		return nil, nil, fmt.Errorf("%s: settings: %w", name, err)
	}
	for _, c := range all.Schema.Features.Columns {
		columns = append(columns, c.Name)
	}
	return list, columns, nil
}

// inOrder are the fields of a JSON object in the order of the text.
func inOrder(object []byte) (list []Fact, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, setting(fmt.Sprint(key), plain(value)))
	}
	return list, nil
}

// chosen are the settings for which 0 means that the program chooses the value; true: the setting is in bytes.
var chosen = map[string]bool{"mem": true, "host-mem": true, "chunks": false, "slices": false, "prefetch": false}

// setting is a setting as people write it.
func setting(name, value string) Fact {
	isBytes, known := chosen[name]
	switch n, err := strconv.ParseInt(value, 10, 64); {
	case value == "":
		value = none
	case known && value == "0":
		value = "auto"
	case isBytes && err == nil:
		value = units.Size(n)
	}
	return Fact{name, value}
}

// plain is a JSON value as plain text: strings without quotes, lists with commas, and
// "" for no value.
func plain(value json.RawMessage) string {
	var text string
	var texts []string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &texts) == nil:
		return strings.Join(texts, ", ")
	}
	return string(value)
}

// metric is the score of the splits.
func (r *Run) metric() string {
	if r.Record != nil && r.Record.Metric != "" {
		return r.Record.Metric
	}
	return "accuracy"
}

// capital has the first letter of a word in upper case.
func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
