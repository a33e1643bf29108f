package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/internal/cli"
)

// joined is args with "--flag -5" as "--flag=-5", which kong would take for two flags.
func joined(args []string) []string {
	var list []string
	for i := 0; i < len(args); i++ {
		flag, next := args[i], ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if strings.HasPrefix(flag, "--") && !strings.Contains(flag, "=") && len(next) > 1 && next[0] == '-' && strings.ContainsRune(".0123456789", rune(next[1])) {
			flag += "=" + next
			i++
		}
		list = append(list, flag)
	}
	return list
}

// empty refuses flags and arguments whose value is no character, such as that of a shell variable that is not set.
func empty(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		switch {
		case p.Flag != nil && !p.Resolved && without(p.Flag.Target):
			return cli.Usagef("--%s is empty: give it a value, or leave it out", p.Flag.Name)
		case p.Positional != nil && without(p.Positional.Target):
			return cli.Usagef("%s is empty: give it a value, or leave it out", "<"+p.Positional.Name+">")
		}
	}
	return nil
}

// without tells whether v is an empty text, or a list with one among its texts.
func without(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return strings.TrimSpace(v.String()) == ""
	case reflect.Slice:
		for i := range v.Len() {
			if without(v.Index(i)) {
				return true
			}
		}
		return v.Len() == 0
	}
	return false
}
