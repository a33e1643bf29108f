package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/saga"
)

// division is what --split says: shares, a folder that has a split, or nothing.
type division struct {
	train, val float64
	from       string
	*byTime    // nil: not by time
}

// parseSplit reads the value of --split.
func parseSplit(text string) (d division, err error) {
	if text == "" {
		return d, nil
	}
	if d.byTime, err = recordedByTime(text); d.byTime != nil || err != nil {
		return d, err
	}
	if list, ok := sharesIn(text, ""); ok && len(list) > 1 { // one number may be a folder
		if d.train, d.val, ok = divided(list); !ok {
			return d, fmt.Errorf("--split %s: want two shares above 0 that leave something for testing, such as 0.6,0.2", text)
		}
		return d, nil
	}
	if info, err := os.Stat(text); err != nil || !info.IsDir() {
		return d, fmt.Errorf("--split %s: want two shares, such as 0.6,0.2, or a folder with train.csv, val.csv and test.csv, as saga export --split writes them", text)
	}
	return division{from: text}, nil
}

// sharesIn reads shares with commas between, each with the unit, which is % or nothing; ok is false if text has anything else.
func sharesIn(text, unit string) (list []float64, ok bool) {
	whole := map[string]float64{"": 1, "%": 100}[unit]
	for part := range strings.SplitSeq(text, ",") {
		number, has := strings.CutSuffix(strings.TrimSpace(part), unit)
		x, err := strconv.ParseFloat(number, 64)
		if !has || err != nil {
			return nil, false
		}
		list = append(list, x/whole)
	}
	return list, true
}

// divided are the shares of training and validation in list, which leave something for testing. A third share can only be what they leave.
func divided(list []float64) (train, val float64, ok bool) {
	if len(list) == 3 && math.Abs(list[0]+list[1]+list[2]-1) < 1e-6 {
		list = list[:2]
	}
	if len(list) != 2 {
		return 0, 0, false
	}
	train, val = list[0], list[1]
	return train, val, train > 0 && val > 0 && train+val < 1
}

// splitSeed is the seed that splits are drawn by.
func (s *settings) splitSeed() uint64 {
	return uint64(cmp.Or(int64(s.Data.SplitSeed), int64(s.Training.Seed)))
}

// splitSeed is the seed that splits were drawn by in training.
func (t *trained) splitSeed() uint64 { return cmp.Or(t.prep.SplitSeed, t.about.Seed) }

// divide makes the splits that the run asks for, or that d does not have. The result is d, for links data with other edges. drawn says that
// something depends on the seed, and dropped how many pairs of files nothing reads.
func (p *prepared) divide(d *dataset.Data, task saga.Task, seed uint64) (out *dataset.Data, drawn bool, dropped int, err error) {
	by, err := parseSplit(p.Split)
	if err != nil {
		return nil, false, 0, err
	}
	if by.byTime != nil && task == saga.LinkTask && p.allRelations(d) {
		return nil, false, 0, cli.Usagef("--split-time: links of all relations (--relation all) are divided at random, or by a split in files")
	}
	if by.byTime != nil {
		out, err = by.divide(d, task, seed)
		p.Split = by.String()
		return out, task == saga.LinkTask, 0, err
	}
	if task == saga.LinkTask && p.allRelations(d) {
		out, err = p.divideTriples(d, by, seed)
		return out, by.from == "", 0, err
	}
	if task == saga.LinkTask {
		given := d.Targets.Given
		if by.from != "" {
			if given, dropped, err = dataset.ReadLinkSplit(by.from, d); err != nil {
				return nil, false, 0, err
			}
		}
		if given != nil && by.train == 0 {
			out, err = typedOr(d, dataset.UseRelation, dataset.UseLinks)(d, given, seed)
			return out, given.NotVal.Len() == 0 && given.Val.Len() > 0 || given.NotTest.Len() == 0, dropped, err
		}
		if by.train == 0 {
			by.train, by.val = linkTrain, linkVal
		}
		out, err = typedOr(d, dataset.SplitRelation, dataset.SplitLinks)(d, dataset.LinkShares{Val: by.val, Test: 1 - by.train - by.val, Disjoint: p.Disjoint}, seed)
		return out, true, 0, err
	}
	has := slices.ContainsFunc(splitsOf(d, task), func(ids []uint32) bool { return ids != nil })
	switch {
	case by.from != "":
		return d, false, 0, dataset.ReadSplit(by.from, d, task)
	case by.train > 0:
		return d, true, 0, dataset.RandomSplitOf(d, task, by.train, by.val, seed)
	}
	return d, !has, 0, dataset.DefaultSplit(d, task, seed)
}

// allRelations tells whether links of all types of the edges of d are predicted.
func (p *prepared) allRelations(d *dataset.Data) bool {
	return p.Target == cli.AllRelations && d.Vertices.Kinds == nil
}

// divideTriples is divide for links of all relations.
func (p *prepared) divideTriples(d *dataset.Data, by division, seed uint64) (*dataset.Data, error) {
	reverses, err := dataset.TypeReverses(d, p.reverses())
	if err != nil {
		return nil, err
	}
	if by.from != "" {
		given, err := dataset.ReadTriples(by.from, d)
		if err != nil {
			return nil, err
		}
		return dataset.UseTriples(d, given, seed, reverses...)
	}
	if by.train == 0 {
		by.train, by.val = linkTrain, linkVal
	}
	return dataset.SplitTriples(d, dataset.LinkShares{Val: by.val, Test: 1 - by.train - by.val, Disjoint: p.Disjoint}, seed, reverses...)
}

// reverses are the values of --reverse of a run, and what it found to be.
func (p *prepared) reverses() []string {
	if p.Splits == nil {
		return nil
	}
	return p.Splits.Reverse
}

// reversesOf are the pairs of relations that links of d took for each other's reverses, as --reverse takes them.
func reversesOf(d *dataset.Data) (list []string) {
	l := d.Targets.Links
	if l == nil {
		return nil
	}
	name := func(r int) string { return dataset.TypeName(d, r) }
	if k := d.Vertices.Kinds; k != nil {
		name = k.Graph.FullName
	}
	for _, pair := range l.Reverses {
		list = append(list, name(pair[0])+"="+name(pair[1]))
	}
	return list
}

// splitsOf is the three splits of d.
func splitsOf(d *dataset.Data, task saga.Task) [][]uint32 {
	s := d.Splits(task)
	return s[:]
}

// divide makes the splits of the data of a run, and says what there is to say of them.
func (j *job) divide(s *settings, task saga.Task, log *slog.Logger) error {
	j.prep.Disjoint, j.prep.SplitSeed = s.Link.Disjoint, uint64(s.Data.SplitSeed)
	var err error
	if j.prep.Split, err = s.splitOf(j.data, task); err != nil {
		return err
	}
	d, drawn, dropped, err := j.prep.divide(j.data, task, s.splitSeed())
	if err != nil {
		return err
	}
	if !drawn && s.Data.SplitSeed != 0 {
		tellIdle(log, []string{"--split-seed (the split is given, not drawn)"})
	}
	if dropped > 0 {
		log.Info(words.Text("%d {pair|pairs} without an edge in the training file {is|are} left out: training draws as many as it has edges, new ones in every epoch", dropped))
	}
	by, _ := parseSplit(j.prep.Split)
	given := by.byTime != nil || by.from != "" || by.train == 0 && task == saga.LinkTask && j.data.Targets.Given != nil
	switch l := d.Targets.Links; {
	case by.byTime != nil:
		by.tell(log, d, task)
	case task == saga.LinkTask:
		how := "edges are divided at random"
		if given {
			how = "edges are divided as in the split that is given"
			if s.Link.Disjoint != 0 {
				tellIdle(log, []string{"--disjoint (of a split that is drawn; this one is given)"})
			}
		}
		facts := []any{"training", l.Train.Len(), "validation", l.Val.Len(), "test", l.Test.Len(), "passing messages", messagesOf(d)}
		if drawn {
			facts = append(facts, "seed", s.splitSeed())
		}
		log.Info(how, facts...)
	}
	j.data, j.drawn, j.apart = d, drawn, drawn && !given
	return nil
}

// has reports whether anything is scored in the training (0), validation (1) or test split (2).
func (j *job) has(split int) bool {
	task := cmp.Or(j.prep.Layers.Task, saga.VertexTask)
	if l := j.data.Targets.Links; task == saga.LinkTask {
		return split != 1 || l.Val.Len() > 0
	}
	return len(j.data.Splits(task)[split]) > 0 // also of shards: all ranks know the splits
}

// typedOr is what is for data of several types, or what is for one.
func typedOr[T any](d *dataset.Data, several, one T) T {
	if d.Vertices.Kinds != nil {
		return several
	}
	return one
}

// messagesOf is how many edges of d, of several types of the relation that is predicted, pass messages.
func messagesOf(d *dataset.Data) int {
	if k := d.Vertices.Kinds; k != nil {
		return k.Graph.Relations[k.Relation].Links.Edges.E()
	}
	return d.Edges.E()
}

// splitFacts say on which split of which labels a model was trained, so that evaluate can tell another one.
type splitFacts struct {
	Vertices int       `json:"vertices"`
	Edges    int       `json:"edges"`
	Labels   uint32    `json:"labels"` // CRC-32C
	Parts    [3]uint32 `json:"parts"`  // of training, validation, test
	Mask     int       `json:"mask,omitempty"`
	Masks    int       `json:"masks,omitempty"`   // how many splits the file had; 0: one, or another was made
	Reverse  []string  `json:"reverse,omitempty"` // of links: --reverse, and what was found to be
}

// factsOf are those of the splits that d has now.
func factsOf(d *dataset.Data, task saga.Task) *splitFacts {
	f := &splitFacts{Vertices: d.Edges.V, Edges: d.Edges.E(), Reverse: reversesOf(d)}
	switch labels := labelsOf(d, task); {
	case labels != nil:
		f.Labels = crcOf(labels)
	case task == saga.LinkTask:
	case d.Sets(task).Rows != nil:
		f.Labels = crcOf(d.Sets(task).Rows)
	default:
		f.Labels = crcOf(d.Targets.Of(task).Rows)
	}
	for i, ids := range d.Splits(task) {
		f.Parts[i] = crcOf(ids)
	}
	if l := d.Targets.Links; task == saga.LinkTask {
		none := dataset.Pairs{}
		for i, p := range [][2]*dataset.Pairs{{&l.Train, &none}, {&l.Val, &l.NotVal}, {&l.Test, &l.NotTest}} {
			f.Parts[i] = crcOf(slices.Concat(p[0].Src, p[0].Dst, p[1].Src, p[1].Dst))
		}
	}
	if task == saga.VertexTask {
		f.Mask, f.Masks = d.Report.Mask, d.Report.Masks
	}
	return f
}

// crcOf is the CRC-32C of x, a piece at a time.
func crcOf[T uint32 | int32 | float32](x []T) uint32 {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for part := range slices.Chunk(x, 1<<16) {
		binary.Write(h, binary.LittleEndian, part) // a hash takes every write
	}
	return h.Sum32()
}

// name is which split of a file with several it is.
func (f *splitFacts) name() string {
	if f.Masks == 0 {
		return ""
	}
	return fmt.Sprintf(" (number %d of %d, from 0)", f.Mask, f.Masks)
}

// otherSplit says that what is scored may have been trained on: the graph and its labels are those of training and the
// splits are not, or the split of other data was drawn at random, or the file has changed. It is "" where that is not so, or not known.
func (e *evaluation) otherSplit() string {
	then := e.prep.Splits
	if then == nil || e.on == "all" {
		return ""
	}
	now := factsOf(e.data, e.task())
	same := sameFile(e.name, e.prep.Data)
	if e.data.Report.Drawn(e.task()) && !same && (now.Parts != then.Parts || now.Labels != then.Labels) {
		return fmt.Sprintf("%s is not the data of training, or has it in another order, and its split was drawn at random: where the %s are those of training, some of its %s split were trained on",
			e.name, e.task().Plural(), e.on)
	}
	text := e.notThen(now, e.on)
	if by, _ := parseSplit(e.prep.Split); text == "" && same && by.byTime == nil && now.Parts != then.Parts {
		text = fmt.Sprintf("%s has changed since training, and so has its split: %s of its %s split may have been trained on", e.name, e.task().Plural(), e.on)
	}
	return text
}

// notThen says how the splits now differ from those of training; on is what is scored.
func (t *trained) notThen(now *splitFacts, on string) string {
	then := t.prep.Splits
	if now.Vertices != then.Vertices || now.Edges != then.Edges || now.Labels != then.Labels || now.Parts == then.Parts {
		return ""
	}
	return fmt.Sprintf("%s has the graph and labels of training but another split%s than the model was trained on%s: %s of its %s split may have been trained on",
		t.name, now.name(), then.name(), t.task().Plural(), on)
}

// splitText is the line of the split of a run, "" if the parts are not known here.
func (j *job) splitText(s *settings, among bool) string {
	task := cmp.Or(j.prep.Layers.Task, saga.VertexTask)
	sizes := [3]int{}
	switch l := j.data.Targets.Links; {
	case j.data.Shard != nil:
		return ""
	case task == saga.LinkTask:
		sizes = [3]int{l.Train.Len(), l.Val.Len(), l.Test.Len()}
	default:
		for i, ids := range j.data.Splits(task) {
			sizes[i] = len(ids)
		}
	}
	text := words.Text("split     %d {"+string(task)+"|"+task.Plural()+"} for training, %d for validation, %d for testing", sizes[0], sizes[1], sizes[2])
	if by, _ := parseSplit(j.prep.Split); by.byTime != nil {
		text += ", by time"
	}
	switch seed := s.splitSeed(); {
	case j.drawn && !j.apart:
		text += fmt.Sprintf("; pairs without an edge are drawn by seed %d", seed)
	case j.drawn && among && s.Data.SplitSeed == 0:
		text += fmt.Sprintf("; each seed draws a split of its own (--split-seed %d: one split for all)", seed)
	case j.drawn:
		text += fmt.Sprintf(", drawn at random by seed %d", seed)
	}
	return text + "\n"
}
