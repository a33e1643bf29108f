package cli

import (
	"os"
	"testing"
)

// TestPlain: what a terminal could act on is written out, all else stays.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"epoch 1/3\n\tgrün 漢字 😀\n": "epoch 1/3\n\tgrün 漢字 😀\n",
		"\x1b[2J\x1b]0;x\x07":      `\x1b[2J\x1b]0;x\x07`,
		"a\rb\x00\x7f":             `a\x0db\x00\x7f`,
		"\u009b31m":                `\x9b31m`,
		"\xff\xfe":                 `\xff\xfe`,
		"\u202egpj.exe":            `\u202egpj.exe`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	split := &Output{File: w}
	if n, err := (&Output{File: w}).Write([]byte("\x1b[31mred\n")); n != 9 || err != nil {
		t.Error(n, err)
	}
	for _, half := range []string{"\xe6\xbc", "\xa2\n"} { // of a character
		if _, err := split.Write([]byte(half)); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	b := make([]byte, 99)
	if n, _ := r.Read(b); string(b[:n]) != "\\x1b[31mred\n漢\n" {
		t.Errorf("%q", b[:n])
	}
}
