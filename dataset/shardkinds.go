package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"sagann/chunk"
	"sagann/internal/regular"
)

// Shards of a graph of several types: a folder of shards for each vertex type and each relation, and a manifest. A type's have its features
// in the order of its own vertices. A relation's have its edges in the numbering of all intervals of the run, in which interval i begins at
// i times the width of the widest. There is only what labels of the target depend on through so many layers: as the intervals are dealt to
// those types, the others would change them.

// typedShardVersion is the version of the manifest.
const typedShardVersion = 3

// typedManifest is the file shards.json of shards of several types.
type typedManifest struct {
	Checksum  string   `json:"crc32c"` // of the file with eight zeros here
	Version   int      `json:"version"`
	Name      string   `json:"name"`
	Owners    int      `json:"owners"`
	Intervals int      `json:"intervals"`
	SelfLoops bool     `json:"self_loops"`
	Target    int      `json:"target"` // number of the type whose labels are trained
	Layers    int      `json:"layers"` // labels of models with more layers depend on more than there is; 0: never
	Types     []string `json:"types"`
	Vertices  []int    `json:"vertices"` // by type
	Relations []struct {
		Source int    `json:"source"`
		Name   string `json:"name"`
		Target int    `json:"target"`
	} `json:"relations"`
	Parts []string `json:"parts"` // checksums of the manifests of types, then of relations
	Notes string   `json:"notes"` // the report of the whole
}

// bytes is m as a file.
func (m typedManifest) bytes() ([]byte, error) {
	m.Checksum = noSum
	text, err := json.Marshal(&m)
	if err != nil {
		return nil, err
	}
	return bytes.Replace(text, []byte(noSum), fmt.Appendf(nil, "%08x", crc32.Checksum(text, castagnoli)), 1), nil
}

// readTypedManifest reads the manifest in dir as readManifest does.
func readTypedManifest(dir string) (*typedManifest, error) {
	path := filepath.Join(dir, manifestFile)
	text, err := regular.ReadFile(path, maxManifest)
	if err != nil {
		return nil, err
	}
	m := &typedManifest{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(m); err == nil {
		err = m.check(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// check returns an error if text is not m as it is written, or m is not consistent.
func (m *typedManifest) check(text []byte) error {
	if m.Version != typedShardVersion {
		return fmt.Errorf("shards of version %d, this program reads version %d of several types", m.Version, typedShardVersion)
	}
	if want, err := m.bytes(); err != nil || !bytes.Equal(text, want) {
		return errors.New("the file is damaged: it is not as saga data shard writes it, or has another checksum")
	}
	types := len(m.Types)
	bad := m.Owners < 1 || m.Intervals < max(m.Owners, types) || m.Intervals > chunk.MaxBase || m.Intervals%m.Owners != 0 || types == 0 ||
		len(m.Vertices) != types || len(m.Parts) != types+len(m.Relations) || m.Target < 0 || m.Target >= types || m.Layers < 0
	for _, v := range m.Vertices {
		bad = bad || v < 1 || v > chunk.MaxVertices
	}
	for _, r := range m.Relations {
		bad = bad || min(r.Source, r.Target) < 0 || max(r.Source, r.Target) >= types
	}
	if bad {
		return fmt.Errorf("%d owners, %d intervals, %d types of %v vertices and %d relations do not go together", m.Owners, m.Intervals, types, m.Vertices, len(m.Relations))
	}
	return nil
}

// partDir is the folder of part i: a type or, behind the types, a relation.
func partDir(dir string, types, i int) string {
	if i < types {
		return filepath.Join(dir, fmt.Sprintf("type%d", i))
	}
	return filepath.Join(dir, fmt.Sprintf("relation%d", i-types))
}

// openTypedShards opens those shards in dir that belong to a rank, of so many ranks, of a graph of several types. Each part of the result has a
// Shard.
func openTypedShards(dir string, rank, ranks int) (opened *Hetero, err error) {
	m, err := readTypedManifest(dir)
	if err != nil {
		return nil, err
	}
	h := &Hetero{Name: m.Name}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.closeShards())
		}
	}()
	if err := json.Unmarshal([]byte(m.Notes), &h.Report); err != nil {
		return nil, fmt.Errorf("%s: notes: %w", filepath.Join(dir, manifestFile), err)
	}
	runs := chunk.Runs(m.Vertices, m.Intervals)
	in, err := chunk.UnevenRuns(m.Vertices, runs)
	if err != nil {
		return nil, err
	}
	var ends []shardEnd
	for t, name := range m.Types {
		d, err := m.part(dir, t, rank, ranks, nil)
		if err != nil {
			return nil, err
		}
		h.Types = append(h.Types, VertexType{name, d})
		if x := d.Shard; d.Edges.V != m.Vertices[t] || x.first != runs[t].First || x.Stats.P != runs[t].Dealt || x.E > 0 {
			return nil, fmt.Errorf("%s: shards of type %.40q have %d vertices in %d intervals from number %d on, and those of %d vertices begin with %d", dir, name, d.Edges.V, x.Stats.P, x.first, m.Vertices[t], runs[t].First)
		}
		d.Shard.Target, d.Shard.Layers = t == m.Target, m.Layers
		ends = append(ends, shardEnd{m.Vertices[t], d.Shard.Order, runs[t], in.Width})
	}
	same := chunk.Identity(in.V)
	for i, r := range m.Relations {
		d, err := m.part(dir, len(m.Types)+i, rank, ranks, same)
		if err != nil {
			return nil, err
		}
		h.Relations = append(h.Relations, Relation{r.Source, r.Name, r.Target, d})
		x := d.Shard
		x.ends = &[2]shardEnd{ends[r.Source], ends[r.Target]}
		if err := x.over(in); err != nil {
			return nil, fmt.Errorf("%s: relation %.120q: %w", dir, h.FullName(i), err)
		}
		d.Edges.V = max(m.Vertices[r.Source], m.Vertices[r.Target])
	}
	return h, nil
}

// part opens part i.
func (m *typedManifest) part(dir string, i, rank, ranks int, same *chunk.Order) (*Data, error) {
	sub := partDir(dir, len(m.Types), i)
	p, err := readManifest(sub)
	if err != nil {
		return nil, err
	}
	text, err := p.bytes()
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)); sum != m.Parts[i] || p.Part == "" || p.Owners != m.Owners || p.SelfLoops != m.SelfLoops {
		return nil, fmt.Errorf("%s is not the part that %s names", sub, filepath.Join(dir, manifestFile))
	}
	d, err := p.open(sub, rank, ranks, same)
	if err == nil {
		d.Shard.Chunks = m.Intervals
	}
	return d, err
}

// over has the edges of x, of a relation, in the numbering of in. The error says that they are not.
func (x *Shard) over(in chunk.Intervals) error {
	if s := x.Stats; s.V != in.V || s.P != in.P || s.Width != in.Width {
		return fmt.Errorf("%d ids in %d intervals, and the types have %d in %d", s.V, s.P, in.V, in.P)
	}
	x.Stats.Intervals = in
	for c, n := range x.Stats.Cells {
		if d, s := c/in.P, c%in.P; n.NNZ > 0 && (!x.ends[1].has(d) || !x.ends[0].has(s)) {
			return fmt.Errorf("edges from interval %d to %d, which are of other types", s, d)
		}
	}
	return nil
}

// closeShards closes the shards of all parts.
func (h *Hetero) closeShards() (err error) {
	for _, d := range h.parts() {
		if d.Shard != nil {
			err = errors.Join(err, d.Shard.Close())
		}
	}
	return err
}

// VerifyTypedShards is VerifyShards of a graph of several types.
func VerifyTypedShards(dir string) (h *Hetero, err error) {
	if h, err = openTypedShards(dir, 0, 1); err != nil {
		return nil, err
	}
	for _, d := range h.parts() {
		err = errors.Join(err, d.Shard.verify())
	}
	return h, errors.Join(err, h.closeShards())
}
