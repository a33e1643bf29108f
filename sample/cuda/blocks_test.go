package cuda

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestWords: the words of a batch are where the enum of blocks.cu has them.
func TestWords(t *testing.T) {
	m := regexp.MustCompile(`enum \{([^}]*)\}`).FindStringSubmatch(blocksText)
	if m == nil {
		t.Fatal("no enum")
	}
	at, next := map[string]int{}, 0
	for _, x := range strings.Split(m[1], ",") {
		name, value, ok := strings.Cut(strings.ReplaceAll(x, " ", ""), "=")
		if ok {
			var err error
			if next, err = strconv.Atoi(value); err != nil {
				t.Fatal(err)
			}
		}
		at[name] = next
		next++
	}
	for name, want := range map[string]int{"SEED0": seedAt, "WRONG": wrongAt, "COUNT": verticesAt, "EDGES": edgesAt} {
		if at[name] != want {
			t.Errorf("%s is %d, and here %d", name, at[name], want)
		}
	}
	if at["TICKET"]+2*MostHops > words {
		t.Errorf("tickets of %d hops from %d on, and %d words", MostHops, at["TICKET"], words)
	}
}
