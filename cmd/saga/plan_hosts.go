package main

import (
	"fmt"
	"time"

	"sagann/dataflow/plan/sim"
	"sagann/internal/cli"
)

// hostRow is an epoch on so many hosts.
type hostRow struct {
	hosts, devices, chunks int
	line                   *sim.Timeline
	d2d                    int64
}

// worth is by how much twice the hosts must make an epoch faster, or the ring no longer scales.
const worth = 1.25

// onHosts plans for 1, 2, 4 and so on hosts, up to --hosts, and says where the ring stops scaling.
func (c *planCmd) onHosts(a *app) error {
	if c.Planning.Machine == "" || c.Devices > 0 || a.Given["device"] || c.JSON || c.Dot || c.HTML != "" || c.Dump != "" || c.Explain {
		return cli.Usagef("--hosts takes all devices of the hosts of a --machine, such as h200x8_ib, and prints a table: no --device, --devices, --explain, --dump, --dot, --html or --json")
	}
	one, err := sim.LoadMachine(c.Planning.Machine)
	if err != nil {
		return cli.Usage(err)
	}
	if _, err := one.OnHosts(int(c.Hosts)); err != nil {
		return cli.Usage(err)
	}
	fmt.Fprintf(a.Stdout, "%5s %8s %7s %11s %13s %13s %12s\n", "hosts", "devices", "chunks", "epoch", "kernels run", "copies alone", "rows copied")
	asked := *c
	var rows []hostRow
	for n := 1; ; n = min(2*n, int(c.Hosts)) {
		*c = asked
		r, err := c.onSome(a, one, n)
		if err != nil {
			return fmt.Errorf("%d hosts: %w", n, err)
		}
		rows = append(rows, r)
		ms := func(ns int64) time.Duration { return time.Duration(ns).Round(100 * time.Microsecond) }
		fmt.Fprintf(a.Stdout, "%5d %8d %7d %11v %13v %13v %12s\n", n, r.devices, r.chunks, ms(r.line.Wall), ms(r.line.Compute), ms(r.line.Exposed), cli.SizeText(r.d2d))
		if n == int(c.Hosts) {
			break
		}
	}
	_, err = fmt.Fprintln(a.Stdout, scaling(rows))
	return err
}

// onSome plans for n hosts.
func (c *planCmd) onSome(a *app, one *sim.Machine, n int) (hostRow, error) {
	k := n * len(one.Devices)
	c.Memory.Device = fmt.Sprintf("cpu:%d", k)
	c.Planning.Machine = fmt.Sprintf("%s:%d", c.Planning.Machine, n)
	j, err := c.job(a)
	if err != nil {
		return hostRow{}, err
	}
	s := j.prog.Summary()
	return hostRow{n, k, s.Chunks, j.prog.Predicted(), s.D2D}, nil
}

// scaling says from where on more hosts are not worth their while.
func scaling(rows []hostRow) string {
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if float64(a.line.Wall) < worth*float64(b.line.Wall) {
			return fmt.Sprintf("The ring stops scaling at %d host(s): on %d an epoch takes %.2f of the time. Every host reads the rows of all others in every pass, however many hosts there are; "+
				"more hosts are for graphs that do not fit fewer.", a.hosts, b.hosts, float64(b.line.Wall)/float64(a.line.Wall))
		}
	}
	return fmt.Sprintf("The ring scales to %d hosts: twice the hosts make an epoch at least %.2f times as fast.", rows[len(rows)-1].hosts, worth)
}
