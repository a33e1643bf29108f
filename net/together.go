package net

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Tags that no channel uses. Channel 0 has the tag after them.
const (
	commonTag = iota
	askTag
	answerTag
	firstTag
)

// Bcast copies b of rank from to b of all ranks. All ranks must call it, with b of the same length.
func (g *Group) Bcast(b []byte, from int) error {
	if g == nil || g.Ranks() == 1 {
		return nil
	}
	if g.Rank() != from {
		return g.recv(b, from, commonTag)
	}
	for to := range g.Ranks() {
		if to == from {
			continue
		}
		if err := g.send(b, to, commonTag); err != nil {
			return err
		}
	}
	return nil
}

// BcastText is Bcast of a text of any length.
func (g *Group) BcastText(text string, from int) (string, error) {
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	if err := g.Bcast(size, from); err != nil {
		return "", err
	}
	b := make([]byte, binary.LittleEndian.Uint64(size))
	copy(b, text)
	return string(b), g.Bcast(b, from)
}

// Texts returns the texts of all ranks, by rank. All ranks must call it.
func (g *Group) Texts(mine string) ([]string, error) {
	list := make([]string, g.Ranks())
	for r := range list {
		text := ""
		if r == g.Rank() {
			text = mine
		}
		var err error
		if list[r], err = g.BcastText(text, r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Any reports whether any rank says yes. All ranks must call it.
func (g *Group) Any(yes bool) (bool, error) {
	text := ""
	if yes {
		text = "yes"
	}
	list, err := g.Texts(text)
	for _, s := range list {
		yes = yes || s != ""
	}
	return yes, err
}

// Elsewhere is an error that happened on another rank. That rank reports the error itself.
type Elsewhere struct {
	Rank int
	Text string
}

// Error names the rank and gives its error.
func (e *Elsewhere) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Agree returns nil if err is nil on all ranks. Otherwise it returns err or, if that is nil on this rank, an
// *Elsewhere with the error of the first rank that has one. All ranks must call it.
func (g *Group) Agree(err error) error {
	if g == nil || g.Ranks() == 1 {
		return err
	}
	text := ""
	if err != nil {
		text = "failed: " + err.Error()
	}
	list, wrong := g.Texts(text)
	if err != nil || wrong != nil {
		return errors.Join(err, wrong)
	}
	for r, s := range list {
		if s != "" {
			return &Elsewhere{r, s[len("failed: "):]}
		}
	}
	return nil
}

// Same returns an error unless text is the same on all ranks. The error names two ranks that differ and what
// the text is. All ranks must call it.
func (g *Group) Same(what, text string) error {
	list, err := g.Texts(text)
	if err != nil {
		return err
	}
	for r, s := range list {
		if s != list[0] {
			return fmt.Errorf("ranks 0 and %d differ in their %s: %s and %s; start all ranks with the same program, data and settings", r, what, list[0], s)
		}
	}
	return nil
}
