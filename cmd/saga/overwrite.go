package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/internal/cli"
)

// outputs are the flags that name a file which a command writes. What other flags and arguments name is read.
var outputs = map[string]bool{"out": true, "domains": true, "html": true, "pyg": true, "svg": true}

// overwrites refuses a command line in which an output is also read, or is the output of another flag.
func overwrites(ctx *kong.Context) error {
	type named struct {
		by, path string
		info     os.FileInfo // nil: there is none yet
		output   bool
	}
	var list []named
	for _, p := range ctx.Path {
		by, value := "", reflect.Value{}
		switch {
		case p.Flag != nil && !p.Resolved:
			by, value = "--"+p.Flag.Name, p.Flag.Target
		case p.Positional != nil:
			by, value = "<"+p.Positional.Name+">", p.Positional.Target
		default:
			continue
		}
		for _, path := range texts(value) {
			x := named{by: by, path: filepath.Clean(path), output: p.Flag != nil && outputs[p.Flag.Name]}
			if info, err := os.Stat(path); err == nil {
				if !info.Mode().IsRegular() {
					continue
				}
				x.info = info
			}
			for _, y := range list {
				same := x.path == y.path || x.info != nil && y.info != nil && os.SameFile(x.info, y.info)
				switch {
				case !same || x.by == y.by || !x.output && !y.output:
				case x.output && y.output:
					return cli.Usagef("%s and %s both name %s: give each a file of its own", y.by, x.by, path)
				case x.info != nil || y.info != nil:
					if y.output {
						x, y = y, x
					}
					return cli.Usagef("%s %s: that is the file of %s, which would be overwritten", x.by, x.path, y.by)
				}
			}
			list = append(list, x)
		}
	}
	return nil
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
