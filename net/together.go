package net

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Tags that no channel uses; the first channel's follows.
const (
	commonTag = iota
	askTag
	answerTag
	firstTag
)

// Bcast gives all ranks what rank from has in b; all call it, with as many bytes.
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

// Texts is the text of every rank, by rank, on all of them; all call it.
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

// Any tells whether some rank says yes; all call it.
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

// Elsewhere is the error of a rank on the others: that rank tells of it.
type Elsewhere struct {
	Rank int
	Text string
}

// Error names the rank.
func (e *Elsewhere) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Agree is a vote: nil where err is nil on all ranks, which all call it. Else it is err, and where that is nil the
// error of the first rank that has one.
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

// Same is an error that names two ranks where they have other texts; all ranks call it. what names the text.
func (g *Group) Same(what, text string) error {
	list, err := g.Texts(text)
	if err != nil {
		return err
	}
	for r, s := range list {
		if s != list[0] {
			return fmt.Errorf("ranks 0 and %d have another %s: %s and %s; they must be started with the same program, data and settings", r, what, list[0], s)
		}
	}
	return nil
}
