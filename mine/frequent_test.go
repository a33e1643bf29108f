package mine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sagann/internal/testdata"
	"sagann/mine"
)

// TestPublishedSupports: the 124 labelled patterns of two edges whose supports are published with Peregrine.
func TestPublishedSupports(t *testing.T) {
	dir := testdata.Dir(t, "data/citeseer_mining")
	text, err := os.ReadFile(filepath.Join(dir, "known_answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Labels map[string]int32 `json:"peregrine_label_to_our_class"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, "raw/peregrine_truth/cs-supports-2edge.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	edge := regexp.MustCompile(`\[(\d+),(\d+)-(\d+),(\d+)\]`)
	want := map[mine.Pattern]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var text strings.Builder
		for _, m := range edge.FindAllStringSubmatch(lines.Text(), -1) {
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[3])
			fmt.Fprintf(&text, "%d:%d-%d:%d ", a-1, known.Labels[m[2]], b-1, known.Labels[m[4]])
		}
		want[mine.MustPattern(text.String()).Canonical()] = lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:]
	}
	for _, threads := range []int{1, 3} {
		found, err := open(t, "citeseer_mining", mine.Options{Threads: threads}).Frequent(context.Background(), mine.Frequency{Support: 1, Edges: 2})
		if err != nil {
			t.Fatal(err)
		}
		two := 0
		for _, f := range found {
			if f.Edges() == 2 {
				two++
				if f.Support.String() != want[f.Pattern] {
					t.Errorf("%s: support %s, want %s", f.Pattern, f.Support, want[f.Pattern])
				}
			}
		}
		if two != 124 || len(want) != 124 {
			t.Errorf("%d patterns of two edges, %d published; want 124", two, len(want))
		}
	}
}
