package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletionBash runs the script in bash and asks it what completes a line.
func TestCompletionBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script := string(output(t, "completion", "bash"))
	for _, x := range []struct {
		line string
		want []string // among the words
		not  []string
	}{
		{"saga tr", []string{"train"}, []string{"data"}},
		{"saga data ", []string{"convert", "info", "--help"}, []string{"--model"}},
		{"saga data convert --o", []string{"--out"}, nil},
		{"saga train --mo", []string{"--model", "--momentum"}, []string{"--hidden"}},
		{"saga train --hidden 8 --model ga", []string{"gat", "gatv2"}, []string{"gcn"}},
		{"saga predict --write ", []string{"classes", "probs", "logits"}, []string{"--out"}},
		{"saga bench kernels --mo", []string{"--models", "--most"}, []string{"--model"}},
		{"saga completion ", []string{"bash", "zsh", "fish"}, nil},
		{"saga train --data ", nil, []string{"--out", "train"}},
	} {
		words := strings.Split(x.line, " ")
		c := exec.Command(bash, "-c", script+"\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _saga; printf '%s\\n' \"${COMPREPLY[@]}\"", "-")
		c.Args = append(c.Args, words...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", x.line, err, out)
		}
		got := strings.Fields(string(out))
		for _, w := range x.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q is missing among %q", x.line, w, got)
			}
		}
		for _, w := range x.not {
			if slices.Contains(got, w) {
				t.Errorf("%q: %q is among %q", x.line, w, got)
			}
		}
	}
}

// TestCompletionShells: the scripts of the other shells are for them, and parse where they are installed.
func TestCompletionShells(t *testing.T) {
	for shell, want := range map[string]string{"zsh": "bashcompinit", "fish": `complete -c saga -n 'test (__saga_path) = " train"' -l model -x -a 'appnp `} {
		script := string(output(t, "completion", shell))
		if !strings.Contains(script, want) {
			t.Errorf("%s: no %q in\n%.2000s", shell, want, script)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed: its script is not parsed", shell)
			continue
		}
		c := exec.Command(path, "-n")
		c.Stdin = strings.NewReader(script)
		if text, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, text)
		}
	}
}
