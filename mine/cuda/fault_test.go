package cuda

import (
	"context"
	"errors"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/device/devicetest"
	"sagann/internal/draw"
	"sagann/mine/domain"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// everything uploads a graph with rows in host memory, counts and lists, and returns the
// first error, with those of giving back.
func everything(gpu device.GPU, r *rows.Rows) (err error) {
	ctx := context.Background()
	g, err := Upload([]device.GPU{gpu}, r, Layout{Part: Whole, Hot: 64})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Free()) }()
	if _, err := g.Cliques(ctx, 3, nil); err != nil {
		return err
	}
	f := pattern.Formula{{Times: 1, Of: pattern.EdgePairs}, {Times: 1, Of: pattern.FourCycles}, {Times: 1, Of: pattern.FiveWalks}}
	_, room := SumsNeed(r, f, g.cards[0].chip, len(g.cards))
	if _, err := g.Sums(ctx, f, room, nil); err != nil {
		return err
	}
	closed, err := (&run.Run{Rows: r, Workers: 1}).Closed(ctx)
	if err != nil {
		return err
	}
	m, _ := plan.NewMaps(pattern.Must("house"), run.Degrees(r))
	_, room = MapsNeed(m, r, g.cards[0].chip)
	if _, err := g.Maps(ctx, m, closed, nil, room, nil); err != nil {
		return err
	}
	p, err := plan.Listing(pattern.Must("wedge"), nil)
	if err != nil {
		return err
	}
	least, _ := ListNeed(p, r, g.cards[0].chip)
	if _, err := g.Count(ctx, p, least, nil); err != nil {
		return err
	}
	for _, pool := range []bool{true, false} {
		if err := g.List(ctx, p, pool, least, nil, func([]uint32) bool { return true }); err != nil {
			return err
		}
	}
	if err := errors.Join(g.Free(), domains(gpu, r), tables(gpu, r), grown(gpu, r)); err != nil {
		return err
	}
	return sortKeys(gpu)
}

// sortKeys sorts keys that do not fit.
func sortKeys(gpu device.GPU) (err error) {
	const n = 300
	host, err := gpu.HostAlloc(16 * n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Sync(), gpu.HostFree(host)) }()
	keys := device.View[uint64](host.Bytes())
	for i := range keys[:n] {
		keys[i] = uint64(i*i) % 257
	}
	return Sort(context.Background(), gpu, keys[:n], keys[n:], Sorting{Room: LeastSorting()})
}

// domains finds domains, with a part of the graph in host memory.
func domains(gpu device.GPU, r *rows.Rows) (err error) {
	ctx := context.Background()
	g, err := domain.New(ctx, r, nil, 2, 1, 0)
	if err != nil {
		return err
	}
	need, _ := DomainsNeed(g, r, 3)
	d, err := NewDomains([]device.GPU{gpu}, g, r, 2, ArcLayout{Hot: 64}, need)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Free()) }()
	q := domain.Question{Least: 2, Vertices: 3, Induced: true, Workers: 1, Cards: d.Cards(), Domains: true}
	return g.Mine(ctx, q, func([]domain.Found) error { return nil })
}

// TestFaults fails every call of a GPU in turn, at once and when it runs: the error comes
// back, nothing hangs, and all memory is given back. make test fails about three calls of each
// kind, make soak all.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("every call of a device fails once")
	}
	r := byUser(t, "vertices=20,edges=40,kind=rmat,features=1")
	devicetest.EveryFault(t, draw.Soak(), func() device.GPU { return cudatest.Open(t, 0, 320<<10) }, func(gpu device.GPU) error { return everything(gpu, r) },
		func(err error) bool { return errors.Is(err, device.ErrInjected) })
}
