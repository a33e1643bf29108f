package mine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"sagann/net"
)

// ranks are the processes that share a search for frequent patterns.
type ranks struct {
	*net.Group
	service int

	mu   sync.Mutex
	next map[uint64]uint64 // of rank 0: by level, the next parent
}

// join makes the ranks of a search, or nil where this process is alone. All ranks call it, with what tells their searches apart.
func join(g *net.Group, search func() string) (*ranks, error) {
	if g.Ranks() < 2 {
		return nil, nil
	}
	r := &ranks{Group: g, next: map[uint64]uint64{}}
	r.service = g.Serve(r.answer)
	_, texts, err := g.Vote("frequent patterns", 0, search())
	if err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	for i, text := range texts {
		if text != texts[0] {
			return nil, &QuestionError{fmt.Sprintf("rank %d searches for %q, rank 0 for %q: start all ranks with the same data and flags", i, text, texts[0])}
		}
	}
	return r, nil
}

// dealing is into how many parts, for each rank, the parents of a level are dealt at least.
const dealing = 64

// answer gives the next parents of a level to a rank that asks. Ranks may ask before rank 0 begins the level.
func (r *ranks) answer(ask, memory []byte) ([]byte, error) {
	if len(ask) != 16 {
		return nil, errors.New("mine: an ask for parents is torn")
	}
	level, parents := binary.LittleEndian.Uint64(ask), binary.LittleEndian.Uint64(ask[8:])
	r.mu.Lock()
	defer r.mu.Unlock()
	from := min(r.next[level], parents)
	to := min(from+max(1, parents/uint64(dealing*r.Ranks())), parents)
	r.next[level] = to
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(memory[:0], from), to), nil
}

// Deal is as domain.Peers has it.
func (r *ranks) Deal(level, parents int) (from, to int, err error) {
	ask := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(level)), uint64(parents))
	var b []byte
	if r.Rank() == 0 {
		b, err = r.answer(ask, nil)
	} else {
		b, err = r.Ask(0, r.service, ask, nil)
	}
	if err == nil && len(b) != 16 {
		err = errors.New("the answer of rank 0 is torn")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("mine: %w", err)
	}
	return int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[8:])), nil
}

// channel is that of the lists that ranks send each other.
const channel = 0

// mostList bounds the list of a rank, in bytes.
const mostList = 1 << 38

// Gather is as domain.Peers has it.
func (r *ranks) Gather(what string, own []byte, failed error) ([][]byte, error) {
	if err := r.Agree(what, failed); err != nil {
		return nil, err
	}
	_, texts, err := r.Vote(what, 0, strconv.Itoa(len(own)))
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(texts))
	for i, text := range texts {
		if sizes[i], err = strconv.Atoi(text); err != nil || sizes[i] < 0 || sizes[i] > mostList {
			return nil, fmt.Errorf("mine: rank %d announces %.20q bytes", i, text)
		}
	}
	all := make([][]byte, r.Ranks())
	errs := make([]error, 2*r.Ranks())
	var wg sync.WaitGroup
	for i := range all {
		if i == r.Rank() {
			all[i] = own
			continue
		}
		all[i] = make([]byte, sizes[i])
		wg.Go(func() { errs[2*i] = r.Send(own, i, channel) })
		wg.Go(func() { errs[2*i+1] = r.Recv(all[i], i, channel) })
	}
	wg.Wait()
	return all, errors.Join(errs...)
}
