package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
)

// TestEvaluateLinks: whatever a run on links was told, evaluate scores its validation and test as the training did.
func TestEvaluateLinks(t *testing.T) {
	dir := t.TempDir()
	typed, typedLinks := filepath.Join(dir, "typed.saga"), filepath.Join(dir, "links.saga")
	tables := []string{"data", "convert", "--vertices", "user=" + filepath.Join(dir, "user.csv"), "--vertices", "item=" + filepath.Join(dir, "item.csv"),
		"--edges", "buys=user:item:" + filepath.Join(dir, "buys.csv"), "--edges", "sold=item:user:" + filepath.Join(dir, "sold.csv")}
	var user, item, buys, sold, types strings.Builder
	user.WriteString("id,f\n")
	item.WriteString("id,f\n")
	buys.WriteString("user,item\n")
	sold.WriteString("item,user\n")
	types.WriteString("source,target,type\n")
	for k := range 30 {
		n := strconv.Itoa(k)
		user.WriteString("u" + n + "," + strconv.Itoa(k%5) + "\n")
		item.WriteString("i" + n + "," + strconv.Itoa(k*k%7) + "\n")
		for x := range 5 {
			to := strconv.Itoa((7*k + x*x + 3*x) % 30)
			buys.WriteString("u" + n + ",i" + to + "\n")
			types.WriteString("v" + n + ",v" + to + "," + []string{"likes", "knows"}[x%2] + "\n")
			if x > 1 { // some of the reverses
				sold.WriteString("i" + to + ",u" + n + "\n")
			}
		}
	}
	for name, text := range map[string]string{"user": user.String(), "item": item.String(), "buys": buys.String(), "sold": sold.String(), "types": types.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output(t, append(tables, "--features", "f", "--out", typed)...)
	output(t, "data", "convert", "--edges", filepath.Join(dir, "types.csv"), "--out", typedLinks)
	for _, flags := range []string{
		"--data karate --model gcn",
		"--data karate --model sage --features degree",
		"--data karate --model sage --features degree --row-normalize on --head mlp --split 0.5,0.25",
		"--data karate --model gcn --disjoint 0.3 --ema 0.7 --norm batch",
		"--data karate --model pna --features embedding:4 --sample 3,3",
		"--data TYPED --relation buys --model sage",
		"--data TYPED --relation buys --reverse buys=sold --model sage",
		"--data TYPED --relation sold --reverse buys=sold --model sage --undirected",
		"--data TYPED --relation buys --reverse buys=sold --model graphconv --sample 3,3 --head bilinear",
		"--data LINKS --relation all --head distmult --model rgcn --features degree",
		"--data LINKS --relation all --head distmult --model sage --features degree --reverse likes=knows --undirected",
	} {
		run := filepath.Join(t.TempDir(), "run")
		args := strings.Fields(strings.NewReplacer("TYPED", typed, "LINKS", typedLinks).Replace(flags))
		output(t, append([]string{"train", "--task", "link", "--hidden", "8", "--epochs", "4", "--out", run}, args...)...)
		f, err := os.Open(filepath.Join(run, "metrics.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for k, name := range rows[0] {
			if name != "val" && name != "test" {
				continue
			}
			want, err := strconv.ParseFloat(rows[len(rows)-1][k], 64)
			if err != nil {
				t.Fatal(err)
			}
			var got scored
			if err := json.Unmarshal(output(t, "evaluate", run, "--on", name, "--json"), &got); err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.AUC-want) > 1e-6 {
				t.Errorf("%s: %s has an AUC of %v, in training %v", flags, name, got.AUC, want)
			}
		}
	}
}

// TestRankedWithout: rankings leave out self loops, which a split of triples does not keep, and no other edge beside those of the split.
func TestRankedWithout(t *testing.T) {
	d := &dataset.Data{Edges: &chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 2}, Dst: []uint32{1, 0, 2, 2}, Type: []uint32{0, 1, 1, 0}, Types: 2}}
	out := &dataset.Data{Edges: d.Edges}
	out.Targets.Links = &dataset.Links{Types: 2, Train: dataset.Pairs{Src: []uint32{0}, Dst: []uint32{1}, Type: []uint32{0}}}
	x := &trained{data: d, prep: prepared{Split: t.TempDir()}}
	if p := x.known(out); !slices.Equal(p.Src, []uint32{0, 2, 2}) || !slices.Equal(p.Dst, []uint32{1, 2, 2}) || !slices.Equal(p.Type, []uint32{0, 1, 0}) {
		t.Errorf("a split of triples: %+v", p)
	}
	x.prep.Split = ""
	if p := x.known(out); p.Len() != 5 {
		t.Errorf("a random split: %+v", p)
	}
}
