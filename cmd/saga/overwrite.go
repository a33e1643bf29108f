package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/dataset"
	"sagann/internal/cli"
)

// outputs are the flags that name a file which a command writes. What other flags and arguments name is read.
var outputs = map[string]bool{"out": true, "domains": true, "html": true, "pyg": true, "svg": true}

// unread are the flags that name a folder of which nothing is read that an output could overwrite; files with names of their own are made in it.
var unread = map[string]bool{"scratch": true, "trace": true}

// ofRun are the files of a run's folder that commands read again.
var ofRun = []string{checkpointFile, "config.json", "log.txt", "metrics.csv", "report.json", "trace.json", "trace.pb.gz"}

// namedPath is a file or folder that a command line names, or the data that a run in it trained on.
type namedPath struct {
	by, path string
	given    string      // path as it stands
	info     os.FileInfo // nil: there is none yet
	output   bool
	unread   bool // a folder of which nothing is read that an output could overwrite
}

// overwrites refuses a command line in which an output is also read, by itself or in a folder, or is the output of another flag.
func overwrites(ctx *kong.Context) error {
	list := namedBy(ctx)
	for i := range list {
		for j := range i {
			x, y := &list[j], &list[i]
			if x.unread || y.unread {
				continue
			}
			if !y.output {
				x, y = y, x
			}
			if err := y.overwrites(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// namedBy are all that a command line names, and the data of runs.
func namedBy(ctx *kong.Context) (list []namedPath) {
	data := false
	for _, p := range ctx.Path {
		by, value, output := "", reflect.Value{}, false
		switch {
		case p.Flag != nil && !p.Resolved:
			by, value, output = "--"+p.Flag.Name, p.Flag.Target, outputs[p.Flag.Name]
			data = data || p.Flag.Name == "data"
		case p.Positional != nil:
			by, value = "<"+p.Positional.Name+">", p.Positional.Target
		default:
			continue
		}
		for _, path := range texts(value) {
			x := namedPath{by: by, path: filepath.Clean(path), given: path, output: output, unread: p.Flag != nil && unread[p.Flag.Name]}
			if info, err := os.Stat(path); err == nil {
				x.info = info
			}
			list = append(list, x)
		}
	}
	if data {
		return list
	}
	for i := range list {
		x := &list[i]
		if x.unread {
			continue
		}
		if path := x.trainedOn(); path != "" {
			if info, err := os.Stat(path); err == nil {
				list = append(list, namedPath{by: "the data of " + x.path, path: path, info: info})
			}
		}
	}
	return list
}

// trainedOn is the data that the run which x is, or has the checkpoint of, trained on; "" if x is none.
func (x *namedPath) trainedOn() string {
	dir := x.path
	switch {
	case x.info == nil || x.output:
		return ""
	case !x.info.IsDir():
		if filepath.Base(dir) != checkpointFile {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	var of struct{ Settings struct{ Data string } }
	b, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil || json.Unmarshal(b, &of) != nil {
		return ""
	}
	return of.Settings.Data
}

// overwrites refuses the output x if it is y, or a file that is read in the folder y.
func (x *namedPath) overwrites(y *namedPath) error {
	if !x.output || x.by == y.by || x.info != nil && !x.info.Mode().IsRegular() {
		return nil
	}
	if y.info != nil && y.info.IsDir() && !y.output {
		rel, ok := inside(x.path, y.path)
		if !ok {
			return nil
		}
		_, err := os.Stat(filepath.Join(y.path, checkpointFile))
		switch run, data := err == nil, y.ofData(); {
		case run && !slices.Contains(ofRun, filepath.Base(x.path)), !run && data && !dataset.Takes(y.path, rel), x.info == nil && (run || !data):
			return nil
		case x.info == nil:
			return cli.Usagef("%s %s: in the folder of %s a file of that name is read as a part of the data: name another, or another folder", x.by, x.path, y.by)
		}
		return cli.Usagef("%s %s: that is a file in the folder of %s, which would be overwritten: name another", x.by, x.path, y.by)
	}
	if same := x.path == y.path || x.info != nil && y.info != nil && os.SameFile(x.info, y.info); !same || y.info != nil && !y.info.Mode().IsRegular() {
		return nil
	}
	if y.output {
		return cli.Usagef("%s and %s both name %s: give each a file of its own", y.by, x.by, x.given)
	}
	if x.info == nil {
		return nil
	}
	return cli.Usagef("%s %s: that is the file of %s, which would be overwritten", x.by, x.path, y.by)
}

// ofData reports whether x is named as a graph.
func (x *namedPath) ofData() bool {
	return slices.Contains([]string{"--data", "<path>", "<data>"}, x.by) || strings.HasPrefix(x.by, "the data of ")
}

// inside reports whether a file, which may not be there yet, is in a folder, or in one of its folders, once links are followed, and where.
func inside(file, dir string) (rel string, ok bool) {
	f, err1 := filepath.EvalSymlinks(file)
	if err1 != nil {
		f, err1 = filepath.EvalSymlinks(filepath.Dir(file))
		f = filepath.Join(f, filepath.Base(file))
	}
	d, err2 := filepath.EvalSymlinks(dir)
	if err1 != nil || err2 != nil {
		return "", false
	}
	f, err1 = filepath.Abs(f)
	d, err2 = filepath.Abs(d)
	if err1 != nil || err2 != nil {
		return "", false
	}
	rel, err := filepath.Rel(d, f)
	return rel, err == nil && filepath.IsLocal(rel)
}

// texts are the texts of a flag or argument.
func texts(v reflect.Value) (list []string) {
	switch v.Kind() {
	case reflect.String:
		list = append(list, v.String())
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, texts(v.Index(i))...)
		}
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}
