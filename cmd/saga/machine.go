package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/regular"
)

// This file finds the machine model that a run on GPUs is planned on where no flag names one: that of these cards, which the
// first run measures and keeps, or the nearest of those that this program brings.

// found is a machine model for a run, and what is said of it.
type found struct{ machine, why string }

// findMachine finds the model for a run on the devices of spec: a machine file or the name of a ready one; "": none is needed. With
// may, GPUs that nobody uses and that were not measured are.
func findMachine(spec string, may bool) (found, error) {
	kind := backend.Of(spec)
	usual := backend.MachineOf(spec)
	if usual == "" || kind.System == nil {
		return found{machine: usual}, nil
	}
	sys, err := kind.System()
	if err != nil { // opening the device will say why
		return found{machine: usual}, nil
	}
	_, index, err := device.Parse(spec)
	if err != nil {
		return found{}, err
	}
	var list []device.Card
	for _, i := range index {
		c, err := sys.Card(i)
		if err != nil {
			return found{machine: usual}, nil
		}
		list = append(list, c)
	}
	file := filepath.Join(cli.Machines(), cli.MachineFile(&list[0], len(index)))
	if m, err := sim.LoadMachine(file); err == nil && len(m.Devices) >= len(index) {
		return found{machine: file}, nil
	}
	near := cli.NearestMachine(kind, list[0].Name, len(index))
	switch {
	case !may:
		return found{near, "the card was not measured: saga topo --device cuda --measure does that"}, nil
	case cli.Machines() == "":
		return found{near, "the card is not measured, as there is no folder to keep that in (XDG_CACHE_HOME)"}, nil
	}
	for i := range list {
		if c := &list[i]; len(c.Users) > 0 || c.Free < c.Total/10*9 || c.Free < 4<<30 {
			return found{near, fmt.Sprintf("the card is not measured while others use it (%v)", c)}, nil
		}
	}
	begun := time.Now()
	m, err := measureMachine(kind, index, list, near, true)
	if err == nil {
		err = keepMachine(file, m)
	}
	if err != nil {
		return found{near, fmt.Sprintf("the card could not be measured: %v", err)}, nil
	}
	return found{file, fmt.Sprintf("measured in %s, once for this card, driver and power limit; kept in %s", sinceText(begun), file)}, nil
}

// keepMachine writes a machine file whole, in a folder that it makes.
func keepMachine(file string, m *sim.Machine) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(regular.Replaceable(file), os.MkdirAll(filepath.Dir(file), 0o700)); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return err
	}
	_, err = t.Write(append(text, '\n'))
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), file)
	}
	if err != nil {
		os.Remove(t.Name())
	}
	return err
}

// measureMachine measures the GPUs of these numbers: the rates of one of each name, and the links of all. What is not measured is as in
// the machine named base. With quick it takes about a second beside the compiling of kernels.
func measureMachine(kind *backend.Kind, index []int, list []device.Card, base string, quick bool) (*sim.Machine, error) {
	m, err := sim.LoadMachine(base)
	if err != nil {
		return nil, err
	}
	made := *m
	made.DeviceKinds, made.Devices = map[string]sim.DeviceKind{}, nil
	for i, c := range list {
		name := cmp.Or(cli.Slug(c.Name), "gpu")
		if _, known := made.DeviceKinds[name]; !known {
			about := fmt.Sprintf("measured %s on %s, driver %s, %d W", time.Now().Format(time.DateOnly), c.Name, cmp.Or(c.Driver, "unknown"), c.Watts)
			k, err := measureKind(kind, index[i], c.Total, *m.Kind(0), about)
			if err != nil {
				return nil, err
			}
			made.DeviceKinds[name] = k
		}
		made.Devices = append(made.Devices, sim.Device{Name: fmt.Sprint("gpu", index[i]), Kind: name})
	}
	sys, err := kind.System()
	if err != nil {
		return nil, err
	}
	g := &gpus{sys: sys, index: index}
	if err := g.findWays(); err != nil {
		return nil, err
	}
	devices, err := device.Open(kind.Spec(index...), 2*copyBytes)
	if err != nil {
		return nil, err
	}
	p := &copies{bytes: copyBytes, inFlight: 16, runs: 3, ways: g.kinds()}
	if quick {
		p.inFlight, p.runs = 4, 1
	}
	out, err := measureLinks(&made, devices, p, fmt.Sprintf("%s, measured %s", list[0].Name, time.Now().Format(time.DateOnly)))
	if err != nil {
		return nil, err
	}
	down, _, _ := m.Rates()
	now, _, _ := out.Rates()
	for name, k := range out.DeviceKinds { // kernels that read host memory do so over the link
		if k.Read.Value > 0 {
			k.Read.Value *= math.Min(1, now/down)
			k.Read.Source = fmt.Sprintf("not measured: as on machine %s, by the rates of the links", base)
			out.DeviceKinds[name] = k
		}
	}
	return out, out.Validate()
}

// otherCard says that a machine that a flag names describes another card than the run has; "": it does not, or nobody knows.
func otherCard(spec, machine string) string {
	kind := backend.Of(spec)
	if machine == "" || !kind.GPU() || kind.System == nil {
		return ""
	}
	m, err := sim.LoadMachine(machine)
	if err != nil {
		return ""
	}
	sys, err := kind.System()
	if err != nil {
		return ""
	}
	_, index, err := device.Parse(spec)
	if err != nil || len(index) == 0 {
		return ""
	}
	c, err := sys.Card(index[0])
	if model := m.Kind(0).Memory.Value; err != nil || math.Abs(model-float64(c.Total)) <= 0.05*model {
		return ""
	}
	return fmt.Sprintf("--machine %s describes another card than this (%v): the plan keeps within what is free here, and its times are those of %s; without --machine this card's model is taken", machine, &c, m.Name)
}

// sameMachine has all ranks take the machine of the first: its file, which the others write, too, or its name.
func (t *ranks) sameMachine(f found) (found, error) {
	if t == nil {
		return f, nil
	}
	mine := f.machine
	if text, err := os.ReadFile(f.machine); err == nil {
		mine = "\n" + string(text)
	}
	text, err := t.group.BcastText("machine", mine, 0)
	if err != nil || !strings.HasPrefix(text, "\n") {
		f.machine = text
		return f, err
	}
	if mine == text {
		return f, nil
	}
	m, err := sim.ParseMachine("of rank 0", bytes.TrimSpace([]byte(text)))
	if err != nil {
		return f, err
	}
	dir := cmp.Or(cli.Machines(), os.TempDir())
	f.machine = filepath.Join(dir, fmt.Sprintf("rank-%d_%s.json", t.group.Rank(), cli.Slug(m.Name)))
	return f, keepMachine(f.machine, m)
}
