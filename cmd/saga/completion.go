package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/dataflow/plan/sim"
	"sagann/layers"
)

// completionCmd is saga completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what stands under the usage line.
func (completionCmd) Help() string {
	return `Prints what makes the shell complete commands, flags and names:

  source <(saga completion bash)                                  in ~/.bashrc
  source <(saga completion zsh)                                   in ~/.zshrc, after compinit
  saga completion fish > ~/.config/fish/completions/saga.fish     once`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	root := newParser(&commands{}, io.Discard, io.Discard).Model.Node
	text := ""
	switch c.Shell {
	case "fish":
		text = fishScript(root)
	case "zsh":
		text = "autoload -U +X bashcompinit && bashcompinit\n" + bashScript(root)
	default:
		text = bashScript(root)
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// eachCommand calls f for every command below n, n included, with its path: " data convert".
func eachCommand(n *kong.Node, path string, f func(path string, n *kong.Node)) {
	f(path, n)
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			eachCommand(child, path+" "+child.Name, f)
		}
	}
}

// flagsOf are the flags that a command takes, those of the program included.
func flagsOf(n *kong.Node) (list []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// valuesOf are the values of a flag where they are names; nil where they are files, numbers or others.
func valuesOf(f *kong.Flag) []string {
	switch {
	case f.Enum != "":
		return strings.Split(f.Enum, ",")
	case f.Name == "model" || f.Name == "models":
		return layers.Names()
	case f.Name == "machine":
		return sim.Machines()
	}
	return nil
}

// bashScript keeps the path of commands in a variable, finds in a table what may follow, and
// leaves the rest to the shell, which completes names of files.
func bashScript(root *kong.Node) string {
	var paths, words, values strings.Builder
	eachCommand(root, "", func(path string, n *kong.Node) {
		if path != "" {
			fmt.Fprintf(&paths, "      %q) path=%q ;;\n", path, path)
		}
		var list []string
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				list = append(list, child.Name)
			}
		}
		for _, arg := range n.Positional {
			list = append(list, arg.EnumSlice()...)
		}
		for _, f := range flagsOf(n) {
			list = append(list, "--"+f.Name)
			if !f.IsBool() {
				fmt.Fprintf(&values, "    %q) words=%q; value=1 ;;\n", path+" --"+f.Name, strings.Join(valuesOf(f), " "))
			}
		}
		fmt.Fprintf(&words, "    %q) words=%q ;;\n", path, strings.Join(list, " "))
	})
	return fmt.Sprintf(`_saga() {
  local path="" words="" value="" i cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
%s    esac
  done
  case "$path $prev" in
%s  esac
  if [[ -z "$value" ]]; then
    case "$path" in
%s    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _saga saga
`, &paths, &values, &words)
}

// fishScript is a line for everything that may follow a path of commands.
func fishScript(root *kong.Node) string {
	var paths []string
	var lines strings.Builder
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", " ").Replace(s) + "'"
	}
	eachCommand(root, "", func(path string, n *kong.Node) {
		if path != "" {
			paths = append(paths, quote(path))
		}
		at := fmt.Sprintf("complete -c saga -n %s", quote(fmt.Sprintf("test (__saga_path) = %q", path)))
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				fmt.Fprintf(&lines, "%s -f -a %s -d %s\n", at, child.Name, quote(child.Help))
			}
		}
		for _, arg := range n.Positional {
			if list := arg.EnumSlice(); len(list) > 0 {
				fmt.Fprintf(&lines, "%s -f -a %s\n", at, quote(strings.Join(list, " ")))
			}
		}
		for _, f := range flagsOf(n) {
			takes := " -r"
			if f.IsBool() {
				takes = ""
			} else if list := valuesOf(f); list != nil {
				takes = " -x -a " + quote(strings.Join(list, " "))
			}
			fmt.Fprintf(&lines, "%s -l %s%s -d %s\n", at, f.Name, takes, quote(f.Help))
		}
	})
	return fmt.Sprintf(`function __saga_path
  set -l path ""
  for word in (commandline -opc)[2..-1]
    if contains -- "$path $word" %s
      set path "$path $word"
    end
  end
  echo "$path"
end
%s`, strings.Join(paths, " "), &lines)
}
