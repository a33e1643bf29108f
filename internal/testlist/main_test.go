package main

import (
	"slices"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no GPU\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"said before it failed\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"q","Test":"TestC","Output":"panic: what ended the process\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.2s\n"}
{"Action":"fail","Package":"q"}
no event
`
	var out strings.Builder
	ok, skipped, err := summarize(strings.NewReader(in), &out)
	if ok || err != nil || !slices.Equal(skipped, []string{"p TestA: a_test.go:7: no GPU"}) {
		t.Errorf("%v, %q, %v", ok, skipped, err)
	}
	if want := "said before it failed\nok  \tp\t0.1s\npanic: what ended the process\nFAIL\tq\t0.2s\nno event\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
