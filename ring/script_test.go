package ring_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sagann/internal/golden"
	"sagann/ring"
)

// The scripts describe a tree, a line a link or GPU, rates in GB/s:
//
//	socket0 10           a link from host memory: down, and up when it differs, and
//	switch0 socket0 1 2  both directions together; a link under another
//	gpu0 @switch0        a GPU on a link
//	peers switched       copies between GPUs of a root go over the tree
//	peers direct 380     all GPUs have links of their own
//	bridge 5             between roots
//
// ring prints what follows from it; steps chunks=N the schedule; rates copies=(a>b,..)
// the rates of copies that run together, "host" being host memory.
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		var tree *ring.Tree
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			if cmd.Input != "" {
				tree = parseTree(t, cmd.Lines())
			}
			if cmd.Name == "rates" {
				return rates(t, tree, cmd.Vals("copies"))
			}
			r, err := ring.New(tree)
			if err != nil {
				return err.Error()
			}
			var b strings.Builder
			switch cmd.Name {
			case "ring":
				if err := r.Text(&b); err != nil {
					t.Fatal(err)
				}
			case "dot":
				if err := r.Dot(&b); err != nil {
					t.Fatal(err)
				}
			case "steps":
				for i, s := range r.Steps(cmd.Int(t, "chunks", 8), unused(cmd.Vals("unused"))) {
					fmt.Fprintf(&b, "%d: %s\n", i+1, s.Text())
				}
			default:
				t.Fatalf("%s: unknown command", cmd.Pos)
			}
			return b.String()
		})
	})
}

// unused reads pairs chunk@gpu: chunks from 1, as printed.
func unused(pairs []string) func(chunk, gpu int) bool {
	return func(chunk, gpu int) bool {
		for _, p := range pairs {
			if p == fmt.Sprintf("%d@%d", chunk+1, gpu) {
				return false
			}
		}
		return true
	}
}

func rates(t *testing.T, tree *ring.Tree, copies []string) string {
	at := func(name string) int {
		for i, g := range tree.GPUs {
			if g.Name == name {
				return i
			}
		}
		return ring.Host
	}
	var list []ring.Copy
	for _, c := range copies {
		from, to, _ := strings.Cut(c, ">")
		list = append(list, ring.Copy{From: at(from), To: at(to)})
	}
	var b strings.Builder
	for i, r := range tree.Rates(list) {
		fmt.Fprintf(&b, "%s %.4g\n", copies[i], r/1e9)
	}
	return b.String()
}

func parseTree(t *testing.T, lines []string) *ring.Tree {
	tree := &ring.Tree{Name: "tree"}
	links := map[string]int{}
	rates := func(l *ring.Link, words []string) {
		for i, w := range words {
			x, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatalf("rate %q: %v", w, err)
			}
			*[]*float64{&l.Down, &l.Up, &l.Both}[i] = x * 1e9
		}
		if len(words) == 1 {
			l.Up = l.Down
		}
	}
	peer := ring.Peer{}
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case f[0] == "peers" && f[1] == "switched":
			peer.Kind = ring.Switched
		case f[0] == "peers":
			x, _ := strconv.ParseFloat(f[2], 64)
			peer = ring.Peer{Kind: ring.Direct, Rate: x * 1e9}
		case f[0] == "bridge":
			rates(&tree.Bridge, f[1:])
		case f[1][0] == '@':
			tree.GPUs = append(tree.GPUs, ring.GPU{Name: f[0], Link: links[f[1][1:]]})
		default:
			l, rest := ring.Link{Name: f[0], Parent: -1}, f[1:]
			if p, ok := links[f[1]]; ok {
				l.Parent, rest = p, f[2:]
			}
			rates(&l, rest)
			links[l.Name] = len(tree.Links)
			tree.Links = append(tree.Links, l)
		}
	}
	for range tree.GPUs {
		var row []ring.Peer
		for range tree.GPUs {
			row = append(row, peer)
		}
		tree.Peers = append(tree.Peers, row)
	}
	return tree
}
