package ring

import (
	"errors"
	"fmt"
)

// Tree is the topology of a host: links from host memory down to the GPUs. A link without
// a parent is the memory of a socket. A copy between two sockets crosses Bridge.
type Tree struct {
	Name   string
	Links  []Link
	GPUs   []GPU
	Bridge Link
	Peers  [][]Peer // [from][to]; nil: every copy between GPUs goes through host memory
}

// Link connects the links or GPUs below it with its parent, toward the host. Rates are in B/s. Down is
// from the host to the GPUs, Up is the other direction, Both is the sum of both directions when both are
// busy. A rate of 0 is no limit.
type Link struct {
	Name           string
	Parent         int // index into Tree.Links; -1: this is the memory of a socket
	Down, Up, Both float64
}

// GPU is a GPU and the link that it hangs on.
type GPU struct {
	Name string
	Link int
}

// PeerKind says which way a copy between two GPUs takes.
type PeerKind uint8

// The ways between two GPUs.
const (
	Staged   PeerKind = iota // no peer access: copies go through host memory
	Switched                 // up the tree to the lowest common link, and down again
	Direct                   // over a link of their own, such as NVLink
)

// String names the way.
func (k PeerKind) String() string {
	return [...]string{"through host memory", "through the tree", "over a link of their own"}[k]
}

// Peer is the way from one GPU to another.
type Peer struct {
	Kind PeerKind
	Rate float64 // B/s of a Direct link
}

// Host is the index of host memory, where otherwise the index of a GPU is used.
const Host = -1

// Validate lists every fault of t: links whose parents do not come before them, GPUs
// on links that do not exist, names used twice, rates below 0, a peer table of another size.
func (t *Tree) Validate() error {
	var errs []error
	want := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("tree %s: "+format, append([]any{t.Name}, a...)...))
		}
	}
	want(len(t.GPUs) > 0, "no GPUs")
	links, gpus := map[string]bool{}, map[string]bool{}
	for i, l := range t.Links {
		want(l.Parent >= -1 && l.Parent < i, "link %s: its parent must come before it", l.Name)
		want(!(l.Down < 0) && !(l.Up < 0) && !(l.Both < 0), "link %s: a rate below 0", l.Name)
		want(l.Name != "" && !links[l.Name], "link %d: name %q is empty or used twice", i, l.Name)
		links[l.Name] = true
	}
	for i, g := range t.GPUs {
		want(g.Link >= 0 && g.Link < len(t.Links), "%s hangs on link %d of %d", g.Name, g.Link, len(t.Links))
		want(g.Name != "" && !gpus[g.Name], "GPU %d: name %q is empty or used twice", i, g.Name)
		gpus[g.Name] = true
	}
	want(t.Peers == nil || len(t.Peers) == len(t.GPUs), "%d rows of peers for %d GPUs", len(t.Peers), len(t.GPUs))
	for _, row := range t.Peers {
		want(len(row) == len(t.GPUs), "%d peers in a row for %d GPUs", len(row), len(t.GPUs))
	}
	return errors.Join(errs...)
}

// chain lists the links from the root down to link l.
func (t *Tree) chain(l int) []int {
	var c []int
	for ; l >= 0; l = t.Links[l].Parent {
		c = append([]int{l}, c...)
	}
	return c
}

// root is the socket of a GPU: the first link of its chain.
func (t *Tree) root(gpu int) int { return t.chain(t.GPUs[gpu].Link)[0] }

// below lists those of the given GPUs that hang on link l or below it, in order.
func (t *Tree) below(l int, gpus []int) []int {
	var out []int
	for _, g := range gpus {
		for k := t.GPUs[g].Link; k >= 0; k = t.Links[k].Parent {
			if k == l {
				out = append(out, g)
				break
			}
		}
	}
	return out
}

// peer is the way between two GPUs. It is Switched only if the two have the same root.
func (t *Tree) peer(from, to int) Peer {
	if t.Peers == nil {
		return Peer{}
	}
	p := t.Peers[from][to]
	if p.Kind == Switched && t.root(from) != t.root(to) {
		return Peer{}
	}
	return p
}

// all lists the GPUs.
func (t *Tree) all() []int {
	out := make([]int, len(t.GPUs))
	for i := range out {
		out[i] = i
	}
	return out
}

// Flat is a tree of n GPUs that share no link. They copy to each other directly, in each
// direction at the given rate (B/s). It is used when nothing is known of the machine.
func Flat(n int, rate float64) *Tree {
	t := &Tree{Name: "flat"}
	for i := range n {
		t.Links = append(t.Links, Link{Name: fmt.Sprintf("link%d", i), Parent: -1, Down: rate, Up: rate})
		t.GPUs = append(t.GPUs, GPU{fmt.Sprintf("gpu%d", i), i})
		row := make([]Peer, n)
		for j := range row {
			row[j] = Peer{Direct, rate}
		}
		t.Peers = append(t.Peers, row)
	}
	return t
}
