package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"sagann/internal/regular"
	"sagann/internal/runfolder"
)

// configFlag is --config: a file of settings that stand in for defaults.
type configFlag string

// BeforeResolve reads the file before kong fills in what the command line leaves out.
func (c configFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFlag))
	if path == "" {
		return nil // which empty refuses
	}
	values, err := readSettings(path)
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("--config %s: %w", p.Path, p.Err)
	}
	if err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		return flagValue(values[flag.Name], flag), nil
	}))
	return nil
}

// maxConfig bounds the file of --config. That of a run has some kilobytes.
const maxConfig = 64 << 20

// readSettings reads the settings of a run, its config.json or its folder, or an object
// of flags and their values.
func readSettings(path string) (map[string]any, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, runfolder.ConfigFile)
	}
	text, err := regular.ReadFile(path, maxConfig)
	if err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &top); errors.As(err, &wrong) || err == nil && top == nil {
		return nil, fmt.Errorf("%s: not an object of flags and their values, such as {\"epochs\": 200}", path)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	known, err := (&settings{}).asMap()
	if err != nil {
		return nil, err
	}
	ofRun := top["settings"] != nil
	if ofRun {
		for _, name := range slices.Sorted(maps.Keys(top)) {
			if _, ok := known[name]; ok {
				return nil, fmt.Errorf("%s: %q stands beside \"settings\", and is read in it alone", path, name)
			}
		}
		if text, err = asRun(top["settings"]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var checked savedSettings // values of a wrong type are found here
	if err := json.Unmarshal(text, &checked); errors.As(err, &wrong) {
		return nil, fmt.Errorf("%s: the setting %q cannot be a %s", path, wrong.Field, wrong.Value[:min(len(wrong.Value), 60)])
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	values := map[string]any{}
	if ofRun {
		if err := json.Unmarshal([]byte(unrecorded), &values); err != nil {
			return nil, err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := known[name]; !ok {
			return nil, fmt.Errorf("%s: no setting is called %q; there are %s", path, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return values, nil
}

// defaults are the settings of saga train without flags.
var defaults = sync.OnceValues(func() (map[string]json.RawMessage, error) {
	var usual struct { // without other commands, as in grammar
		Train trainCmd `cmd:""`
	}
	if _, err := newParser(&usual, io.Discard, io.Discard).Parse([]string{"train"}); err != nil {
		return nil, err
	}
	return usual.Train.asMap()
})

// notDefault lists the settings that are not the defaults of saga train, in alphabetical order.
func (s *settings) notDefault() ([]string, error) {
	mine, err := s.asMap()
	if err != nil {
		return nil, err
	}
	theirs, err := defaults()
	if err != nil {
		return nil, err
	}
	var list []string
	for name, x := range mine {
		if string(x) != string(theirs[name]) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, nil
}

// flagValue is x as it would stand in the command line; nil leaves the default.
func flagValue(x any, flag *kong.Flag) any {
	switch x := x.(type) {
	case string:
		if x != "" {
			return x
		}
	case json.Number:
		if x != "0" || flag.Default != "auto" { // of which 0 is the record
			return x.String()
		}
	case bool:
		if x {
			return x
		}
	case []any:
		if flag.Tag.Sep == -1 && len(x) > 0 { // values of it have commas
			return x
		}
		var list []string
		for _, y := range x {
			list = append(list, fmt.Sprint(y))
		}
		if list != nil {
			return strings.Join(list, ",")
		}
	}
	return nil
}
