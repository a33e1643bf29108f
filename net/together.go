package net

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Collective operations: all ranks call them, in the same order. They are numbered, and have names. Every message
// begins with a head that has both, so that ranks in different operations get an error that names these, and do not
// take one's message for the other's. Stuck finds ranks that wait in different operations.

// Tags that no channel uses. Channel 0 has the tag after them.
const (
	commonTag = iota
	askTag
	answerTag
	firstTag
)

// head begins a message of a collective operation.
type head struct {
	number uint64 // of the operation
	bits   uint64 // of a Vote; wrong: the text that follows is an error
	size   uint64 // of what follows
	vote   bool   // a Vote, else a broadcast
	name   string // of the operation; longer ones are cut
}

const (
	headBytes = 64
	nameBytes = headBytes - 25
	wrong     = 1 << 63
)

// MaxText is the longest text of a rank in a collective operation, in bytes.
const MaxText = 16 << 20

func (h *head) bytes() []byte {
	b := make([]byte, headBytes)
	binary.LittleEndian.PutUint64(b, h.number)
	binary.LittleEndian.PutUint64(b[8:], h.bits)
	binary.LittleEndian.PutUint64(b[16:], h.size)
	if h.vote {
		b[24] = 1
	}
	copy(b[25:], h.name)
	return b
}

func headOf(b []byte) *head {
	return &head{number: binary.LittleEndian.Uint64(b), bits: binary.LittleEndian.Uint64(b[8:]), size: binary.LittleEndian.Uint64(b[16:]),
		vote: b[24] == 1, name: strings.TrimRight(string(b[25:headBytes]), "\x00")}
}

// begin begins an operation and returns its head.
func (g *Group) begin(name string, vote bool) *head {
	name = name[:min(len(name), nameBytes)]
	return &head{number: g.doing.next(name), vote: vote, name: name}
}

// recvHead receives a head of the operation h from a rank. If it is of another one, the error names both.
func (g *Group) recvHead(h *head, from int) (*head, error) {
	b := make([]byte, headBytes)
	if err := g.recv(b, from, commonTag); err != nil {
		return nil, err
	}
	o := headOf(b)
	if o.number == h.number && o.name == h.name && o.vote == h.vote {
		return o, nil
	}
	at := func(r int, h *head) string {
		return fmt.Sprintf("rank %d is at operation %d (%s)", r, h.number, h.name)
	}
	if past := g.doing.name(o.number); past != "" && past != h.name { // this rank has ended the operation that the other one is in
		return o, errors.New(differ(at(g.Rank(), h), fmt.Sprintf("its operation %d was %s, and %s", o.number, past, at(from, o))))
	}
	return o, errors.New(differ(at(g.Rank(), h), at(from, o)))
}

// Bcast copies b of rank from to b of all ranks. name says what b is. All ranks must call it, with b of the same length.
func (g *Group) Bcast(name string, b []byte, from int) error {
	_, err := g.bcast(name, b, from, false)
	return err
}

// BcastText is Bcast of a text of any length up to MaxText.
func (g *Group) BcastText(name, text string, from int) (string, error) {
	b, err := g.bcast(name, []byte(text), from, true)
	return string(b), err
}

// bcast is Bcast. With any, only rank from knows the length, and the result is what it has sent.
func (g *Group) bcast(name string, b []byte, from int, any bool) ([]byte, error) {
	if g == nil || g.Ranks() == 1 {
		return b, nil
	}
	h := g.begin(name, false)
	if g.Rank() != from {
		o, err := g.recvHead(h, from)
		switch {
		case err != nil:
			return nil, err
		case any && o.size > MaxText:
			return nil, fmt.Errorf("%s: rank %d sends %d bytes, which is more than %d", name, from, o.size, MaxText)
		case any:
			b = make([]byte, o.size)
		case o.size != uint64(len(b)):
			return nil, fmt.Errorf("%s: rank %d sends %d bytes, rank %d waits for %d", name, from, o.size, g.Rank(), len(b))
		}
		return b, g.recv(b, from, commonTag)
	}
	h.size = uint64(len(b))
	for to := range g.Ranks() {
		if to == from {
			continue
		}
		if err := g.tell(h, b, to); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// tell sends h and, if there is any, what follows it.
func (g *Group) tell(h *head, b []byte, to int) error {
	err := g.send(h.bytes(), to, commonTag)
	if err == nil && (len(b) > 0 || !h.vote) {
		err = g.send(b, to, commonTag)
	}
	return err
}

// Vote gives all ranks what each says: or is all ranks' bits together, which may use all but the highest bit, and texts
// are the texts by rank. Without texts it takes each rank one message to rank 0 and one back. name says what it is
// about. All ranks must call it.
func (g *Group) Vote(name string, bits uint64, text string) (or uint64, texts []string, err error) {
	if g == nil || g.Ranks() == 1 {
		return bits, []string{text}, nil
	}
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	h := g.begin(name, true)
	h.bits, h.size = bits, uint64(len(text))
	if g.Rank() > 0 {
		return g.voteWith(h, text)
	}
	texts = make([]string, g.Ranks())
	texts[0] = text
	var voters []int // they wait for the outcome
	for r := 1; r < g.Ranks(); r++ {
		o, e := g.recvHead(h, r)
		if e != nil {
			err = errors.Join(err, e)
		}
		if o == nil || !o.vote {
			continue
		}
		voters = append(voters, r)
		if o.size > MaxText {
			err = errors.Join(err, fmt.Errorf("%s: rank %d sends a text of %d bytes", name, r, o.size))
			continue
		}
		b := make([]byte, o.size)
		if o.size > 0 {
			err = errors.Join(err, g.recv(b, r, commonTag))
		}
		texts[r], h.bits = string(b), h.bits|o.bits
	}
	b := packTexts(texts)
	if err != nil {
		h.bits, b = wrong, []byte(err.Error())
	}
	h.size = uint64(len(b))
	for _, r := range voters {
		err = errors.Join(err, g.tell(h, b, r))
	}
	return h.bits, texts, err
}

// voteWith is Vote for a rank other than 0.
func (g *Group) voteWith(h *head, text string) (or uint64, texts []string, err error) {
	if err := g.tell(h, []byte(text), 0); err != nil {
		return 0, nil, err
	}
	o, err := g.recvHead(h, 0)
	if o == nil || err != nil && (!o.vote || o.bits != wrong) {
		return 0, nil, err
	}
	if o.size > uint64(g.Ranks())*(MaxText+4) {
		return 0, nil, fmt.Errorf("%s: rank 0 sends texts of %d bytes", h.name, o.size)
	}
	b := make([]byte, o.size)
	if o.size > 0 {
		if err := g.recv(b, 0, commonTag); err != nil {
			return 0, nil, err
		}
	}
	if o.bits == wrong {
		return 0, nil, errors.New(string(b))
	}
	texts, err = unpackTexts(b, g.Ranks())
	return o.bits, texts, err
}

// packTexts is texts as bytes, each preceded by its length; nothing if all are empty.
func packTexts(texts []string) (b []byte) {
	if !slices.ContainsFunc(texts, func(s string) bool { return s != "" }) {
		return nil
	}
	for _, s := range texts {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

// unpackTexts reads n texts from what packTexts made.
func unpackTexts(b []byte, n int) ([]string, error) {
	texts := make([]string, n)
	if len(b) == 0 {
		return texts, nil
	}
	for r := range texts {
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.LittleEndian.Uint32(b)) {
			return nil, errors.New("the texts of ranks are cut")
		}
		size := binary.LittleEndian.Uint32(b)
		texts[r], b = string(b[4:4+size]), b[4+size:]
	}
	return texts, nil
}

// Texts returns the texts of all ranks, by rank. name says what they are. All ranks must call it.
func (g *Group) Texts(name, mine string) ([]string, error) {
	_, texts, err := g.Vote(name, 0, mine)
	return texts, err
}

// Any reports whether any rank says yes. All ranks must call it.
func (g *Group) Any(name string, yes bool) (bool, error) {
	bits := uint64(0)
	if yes {
		bits = 1
	}
	bits, _, err := g.Vote(name, bits, "")
	return bits != 0, err
}

// Elsewhere is an error that happened on another rank. That rank reports the error itself.
type Elsewhere struct {
	Rank int
	Text string
}

// Error names the rank and gives its error.
func (e *Elsewhere) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Here is an error of this rank that Agree has told all others.
type Here struct{ Err error }

// Error is that of Err.
func (e *Here) Error() string { return e.Err.Error() }

// Unwrap is Err.
func (e *Here) Unwrap() error { return e.Err }

// Known tells whether all ranks know of err, as Agree has told them.
func Known(err error) bool {
	return errors.As(err, new(*Elsewhere)) || errors.As(err, new(*Here))
}

// Agree returns nil if err is nil on all ranks. Otherwise it returns a *Here with err or, if that is nil on this rank,
// an *Elsewhere with the error of the first rank that has one. name says what is agreed on. All ranks must call it.
func (g *Group) Agree(name string, err error) error {
	if g == nil || g.Ranks() == 1 {
		return err
	}
	text := ""
	if err != nil {
		text = "failed: " + err.Error()
	}
	list, broken := g.Texts(name, text)
	if broken != nil {
		return errors.Join(err, broken)
	}
	if err != nil {
		return &Here{err}
	}
	for r, s := range list {
		if s != "" {
			return &Elsewhere{r, strings.TrimPrefix(s, "failed: ")}
		}
	}
	return nil
}

// Same returns an error unless text is the same on all ranks. The error names two ranks that differ and what
// the text is. All ranks must call it.
func (g *Group) Same(what, text string) error {
	list, err := g.Texts(what, text)
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
