package main

import "testing"

// TestCSVFields: texts as fields of a .csv, as they came and safe for a spreadsheet.
func TestCSVFields(t *testing.T) {
	for _, x := range []struct{ text, plain, safe string }{
		{"", "", ""},
		{"Ann", "Ann", "Ann"},
		{"a,b", `"a,b"`, `"a,b"`},
		{`say "x"`, `"say ""x"""`, `"say ""x"""`},
		{"=1+2", "=1+2", "'=1+2"},
		{"+cmd|x", "+cmd|x", "'+cmd|x"},
		{"@sum(1,2)", `"@sum(1,2)"`, `"'@sum(1,2)"`},
		{"-x", "-x", "'-x"},
		{" =1", " =1", "' =1"},
		{"＝1", "＝1", "'＝1"},
		{"-5", "-5", "-5"},
		{"+1e3", "+1e3", "+1e3"},
		{"a=b", "a=b", "a=b"},
		{"\x1b[2Jx", "\x1b[2Jx", `\x1b[2Jx`},
		{"two\nlines", "\"two\nlines\"", `two\x0alines`},
		{"\t=1", "\t=1", `\x09=1`},
		{"\r=1", "\"\r=1\"", `\x0d=1`},
		{"Grüße", "Grüße", "Grüße"},
	} {
		if got := (csvForm{}).field(x.text); got != x.plain {
			t.Errorf("%q: %q, want %q", x.text, got, x.plain)
		}
		if got := (csvForm{CSVSafe: true}).field(x.text); got != x.safe {
			t.Errorf("%q, safe: %q, want %q", x.text, got, x.safe)
		}
	}
}
