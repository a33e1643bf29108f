package main

import (
	"cmp"
	"strings"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/runfolder"
	"sagann/saga"
)

// record is config.json.
type record struct {
	Version  string        `json:"saga"`
	Settings savedSettings `json:"settings"`
	Prepared prepared      `json:"prepared"`
	Plan     planRecord    `json:"plan"`
	Params   []paramRecord `json:"parameters"`

	// Schema is what the numbers of the data mean; nil in runs of versions that kept none.
	Schema *dataset.Schema `json:"schema"`
}

type planRecord struct {
	Chunks   int    `json:"chunks"`
	Schedule string `json:"schedule"`
	Save     string `json:"save"`
	// Values stored beside what Save says, and the intervals of what is computed once. nil
	// in runs of versions that did not keep them.
	Store  []string `json:"store"`
	Once   []int    `json:"once_chunks"`
	Slices int      `json:"slices"`           // of columns; 0 in runs of versions without
	Packed bool     `json:"packed"`           // far ends of edges
	Wide   bool     `json:"wide,omitempty"`   // cells are not divided at the far end, or less
	Reach  int      `json:"reach,omitempty"`  // intervals that wide cells reach over; 0: all
	Inside bool     `json:"inside,omitempty"` // rows of gradients are multiplied on edges
	Groups []int    `json:"groups,omitempty"` // of intervals, by phase; without: one
	Tiles  []int    `json:"tiles,omitempty"`  // of kernels on a GPU, rows
	Budget int64    `json:"budget_bytes"`
	Peak   int64    `json:"peak_device_bytes"`
	Digest string   `json:"sum_order_digest"`
}

type paramRecord struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

func (c *trainCmd) record(j *job) record {
	s, asked := j.prog.Summary(), &c.settings
	if c.asked != nil {
		asked = c.asked
	}
	wide, reach := j.prog.Outcome().Wide, 0
	if wide < saga.AllFar {
		reach = wide
	}
	rec := record{Version: version(), Settings: savedSettings(*asked), Prepared: j.prep,
		Plan: planRecord{s.Chunks, s.Schedule, j.prog.Saved(), append([]string{}, j.prog.Stored()...),
			append([]int{}, j.prog.Once()...), j.prog.Slices(), j.prog.Packed(), wide > 0, reach, j.prog.Outcome().Inside, j.prog.Groups(), j.prog.Tiles(), s.Budget, s.Peak, j.prog.Digest()}}
	rec.Schema = saga.Record(j.prog)
	for _, p := range j.prog.Params() {
		rec.Params = append(rec.Params, paramRecord{p.Name, p.Rows, p.Cols})
	}
	return rec
}

// outcome is what a run that goes on takes over.
func (r *planRecord) outcome() saga.Outcome {
	o := saga.Outcome{Store: r.Store, Once: r.Once, Groups: r.Groups, Tiles: r.Tiles, Slices: max(1, r.Slices), Packing: saga.PackingOff, Wide: r.Reach, Inside: r.Inside}
	if r.Packed {
		o.Packing = saga.PackingOn
	}
	if r.Wide && r.Reach == 0 {
		o.Wide = saga.AllFar
	}
	if o.Groups == nil {
		o.Groups = []int{1}
	}
	return o
}

// alike tells whether two names are of as many devices of one kind: which of them changes no bit.
func alike(a, b string) bool {
	kindA, listA, err := device.Parse(a)
	kindB, listB, wrong := device.Parse(b)
	return err == nil && wrong == nil && kindA == kindB && len(listA) == len(listB)
}

// overlay has old settings take what a run that goes on may be given.
func (c *trainCmd) overlay(old *settings, given map[string]bool) {
	if old.Rate.LRSchedule == string(saga.ScheduleCosine) && old.Rate.LREpochs == 0 {
		old.Rate.LREpochs = old.Training.Epochs
	}
	if given["epochs"] {
		old.Training.Epochs = c.Training.Epochs
	}
	if given["mem"] { // where things lie changes no bit
		old.Memory.Mem = c.Memory.Mem
	}
	if given["host-mem"] {
		old.Memory.HostMem = c.Memory.HostMem
	}
	if given["cache"] {
		old.Memory.Cache = c.Memory.Cache
	}
	if given["device"] && alike(old.Memory.Device, c.Memory.Device) {
		old.Memory.Device = c.Memory.Device
	}
	old.Memory.Scratch = c.Memory.Scratch
}

// recall takes the settings of the run that is resumed.
func (c *trainCmd) recall(given map[string]bool) error {
	f, err := runfolder.Open(c.Resume)
	if err != nil {
		return err
	}
	var rec record
	edited, err := f.ReadConfig(&rec)
	if err != nil {
		return err
	}
	if edited {
		c.taken.edited = f.Path(runfolder.ConfigFile)
	}
	c.taken.then = &rec
	old := settings(rec.Settings)
	c.overlay(&old, given)
	changed, err := c.settings.changed(&old, given)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return cli.Usagef("the run in %s goes on as it was begun, and cannot take %s", c.Resume, strings.Join(changed, ", "))
	}
	asked := old
	c.asked = &asked
	old.Data.RowNormalize = "off" // as it was decided then
	if rec.Prepared.RowNormalize {
		old.Data.RowNormalize = "on"
	}
	old.Data.older, old.past.resumed, old.past.delta = rec.Schema == nil, true, rec.Prepared.Layers.Own.Delta
	if old.Training.From != "" {
		old.past.schema, old.past.data = rec.Schema, rec.Prepared.plain()
	}
	if old.Data.Task == "auto" || old.Data.Task == "" {
		old.Data.Task = string(cmp.Or(rec.Prepared.Layers.Task, saga.VertexTask))
	}
	if old.past.ofAll = rec.Prepared.OfAll; old.Data.Features == "auto" && rec.Prepared.Features == "identity" {
		old.Data.Features = "identity"
	}
	// What was chosen by simulation stays, also when the numbers of a machine change.
	if old.Planning.Save == saga.SaveAuto && rec.Plan.Save != "" {
		old.Planning.Save = rec.Plan.Save
	}
	if rec.Plan.Once != nil || old.Planning.Machine != "" || backend.MachineOf(old.Memory.Device) != "" {
		if old.streams() {
			old.Memory.Mem = memory(rec.Plan.Budget)
		}
		old.Planning.Schedule = rec.Plan.Schedule
		if !old.Training.Sampling.alone() && !(dataset.IsShards(old.Data.Path) && !old.Training.Sampling.whole()) { // a batch has one interval, and shards those that they were made for
			old.Planning.Chunks = auto(rec.Plan.Chunks)
		}
		old.Planning.Slices = auto(max(1, rec.Plan.Slices))
		old.past.outcome = rec.Plan.outcome()
	}
	old.net = c.net
	c.settings = old
	return nil
}
