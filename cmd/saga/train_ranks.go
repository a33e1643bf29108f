package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/regular"
	"sagann/net"
	"sagann/net/mpi"
	"sagann/saga"
)

// peerFlags say how processes find each other.
type peerFlags struct {
	Peers       []string      `placeholder:"HOST:PORT" group:"run" help:"Without MPI: where every rank listens, in the order of their numbers; all ranks are started with the same list."`
	Rank        count         `default:"0" placeholder:"N" group:"run" help:"With --peers: the number of this rank, from 0."`
	PeersSecret string        `name:"peers-secret" placeholder:"FILE" group:"run" help:"With --peers: the file of the secret that all ranks know (saga key FILE makes one). They then ask who is there, and encrypt. The environment variable SAGA_PEERS_SECRET names the file, too."`
	PeersOpen   bool          `name:"peers-open" group:"run" help:"With --peers of several hosts: do without a secret, as the network is trusted."`
	Listen      string        `placeholder:"HOST:PORT" group:"run" help:"With --peers: listen there and not at the own address of --peers, as where that leads here through another host."`
	NetTimeout  time.Duration `default:"30s" placeholder:"T" group:"run" help:"End all ranks when one has given no sign of life for so long (${default})."`
}

// rankFlags say how ranks share a run.
type rankFlags struct {
	Owners    count `default:"0" placeholder:"N" group:"memory" help:"As --device cpu:N, or with --device cuda so many GPUs: the total number of devices of the run, divided equally among its ranks: 16 on 2 ranks is 8 on each (docs/hosts.md). 0: those of --device (${default})."`
	peerFlags `embed:""`
	NCCL      string `name:"nccl" default:"auto" placeholder:"FILE" group:"run" help:"The library NCCL, which moves bytes between GPUs of several ranks: a file, off (through host memory) or auto (libnccl.so.2, where it is found; ${default})."`
}

// ranks is this process among those of one run. The first prints and writes; each other has a log file of its own in
// the folder of the run. nil is a process alone.
type ranks struct {
	group  *net.Group
	stderr *os.File // of this process
	log    *laterFile
	voted  bool // the error that ends the run is known to all ranks
}

// toldError is an error that another rank tells of.
type toldError struct {
	error
	status int
}

// join is this process among those that a launcher has started together. A rank that is not the first says nothing from
// then on, but to its log file.
func (c *trainCmd) join(a *app) (*ranks, error) {
	link, err := c.Ranks.link(a)
	if n, slurm := mpi.Apart(); link == nil && err == nil && n > 0 {
		who, how := "WORLD_SIZE says that several processes were started together. They", "saga does not read RANK, WORLD_SIZE and MASTER_ADDR: mpirun, or --peers and --rank, make them ranks of one run"
		if slurm {
			who, how = "srun has started several processes that", "srun --mpi=pmix, or what srun --mpi=list names, makes them ranks of one run"
		}
		a.Log.Warn(who+" know nothing of each other, and each trains alone: "+how, "processes", n)
	}
	if link == nil || err != nil {
		return nil, err
	}
	stderr := a.Stderr
	t := &ranks{group: net.Over(link), stderr: stderr, log: &laterFile{}}
	c.net = t.group
	t.group.GPUs = c.Ranks.overGPUs(a)
	if t.follows() {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		a.Stdout, a.Stderr, a.Log = null, null, alsoTo(newLogger(null), t.log)
	}
	return t, nil
}

// overGPUs says what moves bytes between GPUs of different ranks, of which the first rank tells once.
func (f *rankFlags) overGPUs(a *app) net.Library {
	switch f.NCCL {
	case "off":
		return net.Library{}
	case "auto":
		return net.Library{Path: "libnccl.so.2", Found: func(version string, err error) {
			if err != nil {
				a.Log.Warn("GPUs of different ranks exchange bytes through host memory, which is slower: NCCL was not found (--nccl FILE)", "why", err)
			} else {
				a.Log.Info("GPUs of different ranks exchange bytes through NCCL", "version", version)
			}
		}}
	}
	return net.Library{Path: f.NCCL}
}

// link joins the ranks by MPI or, with --peers, over sockets; nil where this process is alone.
func (f *peerFlags) link(a *app) (net.Link, error) {
	stderr := a.Stderr // of this process, also when a rank says nothing any more
	say := func(text string) { fmt.Fprintf(stderr, "saga: %s\n", cli.Plain(text)) }
	switch {
	case len(f.Peers) > 0:
		return f.peers(a, say)
	case f.Rank > 0:
		return nil, cli.Usagef("--rank %d goes with --peers", f.Rank)
	case f.PeersSecret != "" || f.PeersOpen || f.Listen != "":
		return nil, cli.Usagef("--peers-secret, --peers-open and --listen go with --peers")
	case mpi.Launched() < 2:
		a.Idle("a process alone", "net-timeout", "nccl")
		return nil, nil
	}
	link, err := mpi.Open(mpi.Options{Timeout: f.NetTimeout, Say: say})
	if err != nil {
		return nil, fmt.Errorf("started as one of %d processes: %w", mpi.Launched(), err)
	}
	return link, nil
}

// follows tells whether another rank prints and writes.
func (t *ranks) follows() bool { return t != nil && t.group.Rank() > 0 }

// own makes --owners the number of devices.
func (c *trainCmd) own() error {
	if c.Ranks.Owners == 0 {
		return nil
	}
	if c.Resume != "" {
		return cli.Usagef("--owners and --resume exclude each other: a run that goes on keeps its devices, %s, on any number of ranks", c.Memory.Device)
	}
	kind, index, err := device.Parse(c.Memory.Device)
	if err != nil {
		return cli.Usage(err)
	}
	if strings.Contains(c.Memory.Device, ":") && len(index) != int(c.Ranks.Owners) {
		return cli.Usagef("--owners %d and --device %s: two numbers of devices", c.Ranks.Owners, c.Memory.Device)
	}
	c.Memory.Device = fmt.Sprintf("%s:%d", kind, c.Ranks.Owners)
	if device.IsGPU(kind) {
		c.Memory.Device = kind + ":0"
		for i := 1; i < int(c.Ranks.Owners); i++ {
			c.Memory.Device += fmt.Sprintf(",%d", i)
		}
	}
	return nil
}

// alike is an error where the settings s are not those of the first rank: such ranks would wait for each other for ever. Data may lie
// elsewhere; its bits are compared later. All ranks call it.
func (t *ranks) alike(s *settings) error {
	if t == nil {
		return nil
	}
	mine, err := json.Marshal(savedSettings(*s))
	if err != nil {
		return err
	}
	text, err := t.group.BcastText("settings", string(mine), 0)
	if err != nil {
		return err
	}
	var first savedSettings
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		return err
	}
	compared := map[string]bool{}
	names, err := s.asMap()
	for name := range names {
		compared[name] = !slices.Contains([]string{"data", "machine", "host-mem"}, name)
	}
	if alike(s.Memory.Device, first.Memory.Device) {
		compared["device"] = false
	}
	changed, wrong := s.changed((*settings)(&first), compared)
	if err := errors.Join(err, wrong); err != nil || len(changed) == 0 {
		return err
	}
	return cli.Usagef("started with other settings than the first rank: %s", strings.Join(changed, ", "))
}

// agree is err, or that of another rank; all ranks call it. what is what they agree on.
func (t *ranks) agree(what string, err error) error {
	if t == nil || t.voted {
		return err
	}
	if net.Known(err) { // by a vote in planning
		t.voted = true
		return err
	}
	err = t.group.Agree(what, err)
	t.voted = err != nil
	return err
}

// orders are what the first rank tells the others of a run.
type orders struct {
	Folder string
	Train  saga.TrainOptions
}

// repeats gives all ranks what the first knows of the runs of --repeat.
func (t *ranks) repeats(c *trainCmd, r *repeated, begun *settings) (*repeated, *settings, error) {
	if t == nil {
		return r, begun, nil
	}
	type told struct {
		Dir         string
		First, Runs int
		Begun       savedSettings
	}
	var text []byte
	if r != nil {
		var err error
		if text, err = json.Marshal(told{r.dir, r.first, r.runs, savedSettings(*begun)}); err != nil {
			return nil, nil, err
		}
	}
	first, err := t.group.BcastText("runs", string(text), 0)
	if err != nil || r != nil {
		return r, begun, err
	}
	var x told
	if err := json.Unmarshal([]byte(first), &x); err != nil {
		return nil, nil, err
	}
	own := c.settings
	if c.Resume != "" {
		own = settings(x.Begun)
		own.net = c.net
	}
	return &repeated{dir: x.Dir, first: x.First, runs: x.Runs}, &own, nil
}

// left is list as the first rank has it.
func (t *ranks) left(list []int) ([]int, error) {
	if t == nil {
		return list, nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	first, err := t.group.BcastText("runs that have not ended", string(text), 0)
	if err != nil {
		return nil, err
	}
	list = nil
	return list, json.Unmarshal([]byte(first), &list)
}

// lead tells the other ranks that the first has begun the run r, or why it could not.
func (t *ranks) lead(r *running, err error) error {
	if err := t.agree("run folder", err); err != nil || t == nil {
		return err
	}
	o := orders{r.folder.Dir, r.opt}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = t.group.BcastText("orders", string(text), 0)
	return err
}

// follow trains with the first rank.
func (t *ranks) follow(ctx context.Context, c *trainCmd, j *job) error {
	if err := t.agree("run folder", nil); err != nil {
		return err
	}
	text, err := t.group.BcastText("orders", "", 0)
	if err != nil {
		return err
	}
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if err := c.within(&o); err != nil {
		return err
	}
	if err := t.log.open(filepath.Join(o.Folder, fmt.Sprintf("log.rank%d.txt", t.group.Rank()))); err != nil {
		return err
	}
	_, err = j.prog.Train(ctx, o.Train)
	return err
}

// leave ends the run of all ranks: together, or, when this one alone has failed, at once.
func (t *ranks) leave(err error) error {
	if t == nil {
		return err
	}
	if err != nil && !t.voted && !net.Known(err) && !errors.Is(err, context.Canceled) {
		if t.follows() { // the first may have failed for the same reason, and says it better
			time.Sleep(time.Second)
		}
		fmt.Fprintf(t.stderr, "saga: %s: %v\n", t.group.Name(), err)
		t.group.Abort(err)
	}
	if err == nil || errors.Is(err, context.Canceled) { // the first may still write its report, for longer than Close waits
		if wrong := t.group.Agree("the end of the run", nil); err == nil {
			err = wrong
		}
	}
	if wrong := t.group.Close(); err == nil {
		err = wrong
	}
	err = errors.Join(err, t.log.close())
	if err != nil && t.follows() {
		status := exitFailure
		switch {
		case errors.As(err, new(cli.UsageError)):
			status = exitUsage
		case errors.Is(err, context.Canceled):
			status = exitInterrupted
		}
		return &toldError{err, status}
	}
	return err
}

// crossing is how much all ranks send, by what each sends to each.
func crossing(sent [][]int64) (all int64) {
	for _, row := range sent {
		for _, n := range row {
			all += n
		}
	}
	return all
}

// laterFile is a file that is opened after the first writes.
type laterFile struct {
	mu   sync.Mutex
	text bytes.Buffer
	file *os.File
}

// Write writes to the file, or keeps p for it.
func (l *laterFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.file.Write(p)
	}
	return l.text.Write(p)
}

func (l *laterFile) open(path string) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.close(); err != nil { // of the run before
		return err
	}
	if l.file, err = regular.Append(path); err == nil {
		_, err = l.text.WriteTo(l.file)
	}
	return err
}

func (l *laterFile) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
