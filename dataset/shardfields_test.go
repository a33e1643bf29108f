package dataset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/internal/draw"
)

// read is all that a rank takes from shards, as text.
func (x *Shard) read(d *Data) (string, error) {
	text := fmt.Sprint(d.Edges.V, d.Edges.Types, d.Edges.DataCols, d.Name, d.Labels, d.FeatureCols, x.Owners, x.E, x.SelfLoops, x.Order.Old, x.Stats)
	for _, name := range []string{"src", "dst", "weight", "type", "data", "features"} {
		text += fmt.Sprint(name, x.Sum(1, name), x.Bytes(name))
	}
	for _, out := range []bool{false, true} {
		e, err := x.Edges(out)
		if err != nil {
			return "", err
		}
		deg, err := x.Degrees(out)
		if err != nil {
			return "", err
		}
		text += fmt.Sprint(*e, deg)
	}
	if d.Late.Make != nil {
		rows := make([][]float32, d.Edges.V)
		d.Late.Make(func(v int) []float32 { rows[v] = make([]float32, d.FeatureCols); return rows[v] })
		text += fmt.Sprint(rows)
	}
	return text, x.Err()
}

// readShards is read of all shards in dir.
func readShards(dir string) (string, error) {
	d, err := OpenShards(dir, 0, 1)
	if err != nil {
		return "", err
	}
	defer d.Shard.Close()
	return d.Shard.read(d)
}

// someShards are shards of a small graph.
func someShards(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "shards")
	if _, _, err := WriteShards(Sharding{Conversion: Conversion{From: "synthetic:vertices=60,edges=300,features=3,classes=3,seed=3", Out: out}, Owners: 2, Chunks: 4, SelfLoops: true}); err != nil {
		t.Fatal(err)
	}
	return out
}

// goodShards are someShards, their manifest, and what is read of them.
func goodShards(t *testing.T) (dir string, text []byte, want string) {
	t.Helper()
	dir = someShards(t)
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err == nil {
		want, err = readShards(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, text, want
}

// sameOrRefused reads shards whose manifest is text: it is an error that names the manifest or the folder, or changes nothing.
func sameOrRefused(t *testing.T, dir, what, text, want string) (refused bool) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, manifestFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := readShards(dir)
	switch {
	case err == nil && got != want:
		t.Errorf("%s: another graph, and no error", what)
	case err != nil && !strings.Contains(err.Error(), dir):
		t.Errorf("%s: the error does not name a file: %v", what, err)
	}
	return err != nil
}

// TestManifestFields: a manifest in which any field is another number, is missing, stands twice or is text, with a right checksum, is
// refused or changes nothing.
func TestManifestFields(t *testing.T) {
	dir, text, want := goodShards(t)
	var fields []string // "key":value, as they stand
	rest := string(text)
	for {
		i := strings.IndexByte(rest, ':')
		if i < 0 {
			break
		}
		key := rest[strings.LastIndexByte(rest[:i-1], '"') : i+1]
		var value json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest[i+1:])).Decode(&value); err != nil {
			t.Fatal(err)
		}
		fields = append(fields, key+string(value))
		rest = rest[i+1:]
	}
	if len(fields) < 70 {
		t.Fatalf("%d fields", len(fields))
	}
	slices.Sort(fields)
	tried, refused := 0, 0
	for _, field := range slices.Compact(fields) {
		key, value, _ := strings.Cut(field, ":")
		for _, to := range []string{"0", "1", "-1", "2147483648", "9223372036854775807", "1e3", "null", "true", "false", `"text"`, "[]", "{}", "missing", "twice"} {
			other := key + ":" + to
			switch to {
			case "missing":
				other = ""
			case "twice":
				other = field + "," + field
			case value:
				continue
			}
			edited := strings.Replace(string(text), field, other, 1)
			edited = strings.NewReplacer(",,", ",", "{,", "{", ",}", "}").Replace(edited)
			if key == `"crc32c"` {
				tried++
				if !sameOrRefused(t, dir, field+" → "+to, edited, want) {
					t.Errorf("%s → %s is taken", field, to)
				}
				continue
			}
			if tried++; sameOrRefused(t, dir, field+" → "+to, signed(edited), want) {
				refused++
			}
		}
	}
	t.Logf("%d manifests, %d refused", tried, refused)
}

// TestManifestDamage: a manifest with a flipped bit, or cut, is refused or changes nothing.
func TestManifestDamage(t *testing.T) {
	dir, text, want := goodShards(t)
	r, n := rand.New(rand.NewPCG(draw.Seed(t), 1)), 2000
	refused := 0
	for range n {
		other, at := slices.Clone(text), r.IntN(len(text))
		what := fmt.Sprintf("cut at byte %d", at)
		if r.IntN(8) > 0 {
			bit := r.IntN(8)
			what = fmt.Sprintf("bit %d of byte %d", bit, at)
			other[at] ^= 1 << bit
		} else {
			other = other[:at]
		}
		if sameOrRefused(t, dir, what, string(other), want) {
			refused++
		}
	}
	if refused < n {
		t.Errorf("%d of %d damaged manifests were taken", n-refused, n)
	}
}
