package dataset

import (
	"slices"
	"strings"
	"testing"
)

func TestSyntheticHetero(t *testing.T) {
	s, err := ParseHeteroSpec("mag/2000")
	if err != nil {
		t.Fatal(err)
	}
	h, err := SyntheticHetero(s)
	if err != nil {
		t.Fatal(err)
	}
	if h.V() != 736389/2000+1134649/2000+8740/2000+59965/2000 || len(h.Relations) != 7 {
		t.Errorf("%d vertices, %d relations", h.V(), len(h.Relations))
	}
	at, err := h.Labelled("")
	if err != nil || h.Idle(at) != "" || h.Types[at].Rows.FeatureCols != 128 {
		t.Errorf("%v, %q", err, h.Idle(at))
	}
	// One more relation changes no other draw.
	const text = "a=50x4,b=30,a:r:b=100,seed=7"
	few, more := synthetic(t, text), synthetic(t, text+",b:q:a=20")
	i, _ := more.Relation("r")
	if !slices.Equal(few.Relations[0].Links.Edges.Dst, more.Relations[i].Links.Edges.Dst) || !slices.Equal(few.Types[0].Rows.Features, more.Types[0].Rows.Features) {
		t.Error("another relation changes what is drawn")
	}
	for text, want := range map[string]string{"a=1": "1 types and 0 relations", "a=0,a:r:a=2": "a number from 1", "a=2,a:r:b=2": `"b", which is no type`, "mag/x": "mag/N",
		"a=2,a:r=1": "SOURCE:NAME:TARGET", "a=2,a:r:a=2,target=c": "target=c is no type", "a=2,a:r:a=2,reverse=1": "yes or no", "a": "want TYPE=VERTICES"} {
		if _, err := ParseHeteroSpec(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func synthetic(t *testing.T, text string) *Hetero {
	s, err := ParseHeteroSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	h, err := SyntheticHetero(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
