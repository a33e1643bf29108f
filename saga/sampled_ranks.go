package saga

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/device"
	"sagann/net"
)

// Batches over ranks. Batch r of an update goes to device r modulo the number of all ranks' devices. Every rank receives
// the gradients of all batches, adds them in the same tree (sumParts) and updates its parameters. Unless evaluation is by
// sampling or over shards, each rank evaluates the whole graph by itself. So no bit depends on the number of ranks.

// failedPart is what a rank tells the others about a batch that failed.
type failedPart struct {
	Part            int
	Vertices, Edges []int // sizes of a batch that does not fit its plan; else nil
	Text            string
}

// firstFailed returns the first batch of an update that failed on any rank, or nil if none did. In the same message, ranks
// tell each other whether to stop or to save after the update (updates.ballot). All ranks call it.
func (p *Program) firstFailed(parts []part) (*failedPart, error) {
	var mine *failedPart
	for r, x := range parts {
		if x.err == nil {
			continue
		}
		mine = &failedPart{Part: r, Text: x.err.Error()}
		if errors.As(x.err, new(*exec.OverflowError)) {
			mine.Vertices, mine.Edges = x.vertices, x.edges
		}
		break
	}
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return mine, nil
	}
	var text []byte // mostly empty
	if mine != nil {
		var err error
		if text, err = json.Marshal(mine); err != nil {
			return nil, err
		}
	}
	bits := uint64(0)
	if f := p.run.ballot; f != nil {
		bits = f()
	}
	heard, list, err := g.Vote("outcome of a batch", bits, string(text))
	if err != nil {
		return nil, err
	}
	p.run.heard |= heard
	var first *failedPart
	for _, text := range list {
		if text == "" {
			continue
		}
		x := &failedPart{}
		if err := json.Unmarshal([]byte(text), x); err != nil {
			return nil, err
		}
		if first == nil || x.Part < first.Part {
			first = x
		}
	}
	return first, nil
}

// shareParts broadcasts the results of each batch of an update from the rank that computed it to all ranks.
func (p *Program) shareParts(parts []part) error {
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return nil
	}
	_, n := p.cfg.owned()
	for r := range parts {
		if err := p.sharePart(g, &parts[r], r%p.cfg.devices()/n); err != nil {
			return fmt.Errorf("batch %d of an update: %w", r+1, err)
		}
	}
	return nil
}

// sharePart broadcasts x from rank from to all ranks.
func (p *Program) sharePart(g *net.Group, x *part, from int) error {
	low := p.train.low
	if g.Rank() != from {
		x.grads, x.rows = nil, nil
		for _, u := range low.Spec.Updates {
			x.grads = append(x.grads, make([]float32, low.Spec.Globals[u.Grad].Bytes()/4))
		}
	}
	for _, grad := range x.grads {
		if err := g.Bcast("gradients", device.Bytes(grad), from); err != nil {
			return err
		}
	}
	loss, total := math.Float64bits(x.loss), math.Float64bits(x.total)
	head := []uint32{uint32(loss), uint32(loss >> 32), uint32(total), uint32(total >> 32), uint32(len(x.seeds))}
	if err := g.Bcast("loss of a batch", device.Bytes(head), from); err != nil {
		return err
	}
	x.loss = math.Float64frombits(uint64(head[0]) | uint64(head[1])<<32)
	x.total = math.Float64frombits(uint64(head[2]) | uint64(head[3])<<32)
	if g.Rank() != from {
		x.seeds = make([]uint32, head[4])
	}
	if err := g.Bcast("seeds of a batch", device.Bytes(x.seeds), from); err != nil {
		return err
	}
	for _, id := range p.train.outputRows() {
		if g.Rank() != from {
			if x.rows == nil {
				x.rows = map[int][]float32{}
			}
			x.rows[id] = make([]float32, len(x.seeds)*chunk.LD(low.Spec.Values[id].Cols))
		}
		if err := g.Bcast("rows of a batch", device.Bytes(x.rows[id]), from); err != nil {
			return err
		}
	}
	return nil
}
