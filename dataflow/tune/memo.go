package tune

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
)

// Memo keeps how long simulated plans take, by all that a plan is made of. Different decisions often decode to the same plan: a search
// simulates it once, and so do all searches that share a Memo, one after the other or side by side. The results of a search do
// not depend on what the Memo has.
type Memo struct {
	mu      sync.Mutex
	found   map[planKey]known
	digests map[any]digest // of programs and grids, by pointer
}

// NewMemo returns a Memo without plans.
func NewMemo() *Memo { return &Memo{found: map[planKey]known{}, digests: map[any]digest{}} }

type digest [sha256.Size]byte

// planKey tells plans apart.
type planKey struct {
	setting, program, cells digest
	schedule                string
	choice                  digest
	whole                   bool // plan.Options.Whole
}

// known is the profile of a plan, and whether loads could pass each other in it.
type known struct {
	profile *sim.Profile
	passed  bool
}

// settingOf is the digest of what all plans of a search have in common: the machine, and the options that the search does not choose.
func settingOf(p *Problem) digest {
	o := p.Options
	o.Budget, o.Beside, o.Whole = 0, nil, false                               // the first two decide which choices fit, and planKey has the third
	o.P, o.MinP, o.Slots, o.Group, o.Groups, o.Schedule = 0, 0, 0, 0, nil, "" // grid, choice and planKey have them
	parts := []any{p.Machine, nil, nil, nil}
	if t := o.Topology; t != nil {
		parts[1], parts[2], parts[3] = t.Order, t.Loaders, t.Takes // its rates may be infinite, and nothing else of it makes plans
	}
	o.Topology = nil
	return digestOf(append(parts, o))
}

// digestOf is the digest of all that x has. What has no text, such as a cost that is not finite, is like nothing else.
func digestOf(x any) digest {
	text, err := json.Marshal(x)
	if err != nil {
		text = fmt.Append(nil, unlike.Add(1))
	}
	return sha256.Sum256(text)
}

// unlike counts what has no text.
var unlike atomic.Int64

// of is the digest of what x points to, which never changes.
func (m *Memo) of(x any) digest {
	m.mu.Lock()
	d, ok := m.digests[x]
	m.mu.Unlock()
	if !ok {
		d = digestOf(x)
		m.mu.Lock()
		m.digests[x] = d
		m.mu.Unlock()
	}
	return d
}

// keyOf is the key of j's plan, decoded as x.
func (e *evaluator) keyOf(j *job, x *planner.Decoded) planKey {
	return planKey{e.setting, e.memo.of(j.lowered), e.memo.of(j.cells), j.o.Schedule, sha256.Sum256([]byte(x.Choice())), j.o.Whole}
}

// find is the profile of a plan, simulated as near asks for (planner.Decoded.Simulated); nil if the Memo has none.
func (m *Memo) find(k planKey, near int64) *sim.Profile {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x, ok := m.found[k]; ok && x.passed == (x.profile.InOrder <= near) {
		return x.profile
	}
	return nil
}

// keep keeps the profile of p, simulated as near asks for.
func (m *Memo) keep(k planKey, p *plan.Plan, x *sim.Profile, near int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found[k] = known{x, x.InOrder <= near}
	if !k.whole && !p.Gathers() { // then it is also the plan that loads whole chunks only
		k.whole = true
		m.found[k] = known{x, x.InOrder <= near}
	}
}
