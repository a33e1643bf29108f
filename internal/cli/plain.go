package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Plain is text as a terminal may show it: control characters other than ends of lines and tabs, which names in files may
// hold, stand as \x1b and the like.
func Plain(text string) string {
	if strings.IndexFunc(text, control) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < 0x100 && control(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case control(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// control tells whether a terminal may act on r: control characters, marks that turn the direction of text, and bytes that
// are no characters.
func control(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError
}
