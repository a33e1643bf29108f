package dataset

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShardsDamaged: a folder of shards that does not hold together is refused with what is wrong.
func TestShardsDamaged(t *testing.T) {
	spec, err := ParseSpec("vertices=90,edges=400,features=5,classes=3,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"no shard":      {func(dir string) error { return os.Remove(shardFile(dir, 1)) }, "shard1.saga"},
		"no rows":       {func(dir string) error { return os.Remove(rowsFile(dir, 1)) }, "rows1.saga"},
		"other rows":    {func(dir string) error { return os.Rename(shardFile(dir, 1), rowsFile(dir, 1)) }, "saga"},
		"another shard": {func(dir string) error { return os.Rename(shardFile(dir, 0), shardFile(dir, 1)) }, `the store says that it is "shard 0 of 2`},
		"other columns": {edited(`"src":{"crc":`, `"src":{"crc":1`), "columns"},
		"text":          {edited("{", "["), "manifest"},
		"byte":          {unsigned(`"edges":4`, `"edges":5`), "the file is damaged: its checksum is"},
		"key":           {edited(`"self_loops"`, `"self_loopz"`), `unknown field "self_loopz"`},
		"missing key":   {edited(`"self_loops":false,`, ""), "not a file as saga data shard writes it"},
		"key twice":     {edited(`"self_loops":false,`, `"self_loops":true,"self_loops":false,`), "not a file as saga data shard writes it"},
		"other case":    {edited(`"self_loops"`, `"Self_loops"`), "not a file as saga data shard writes it"},
		"no checksum": {func(dir string) error {
			return rewritten(dir, func(text string) string {
				return "{" + strings.Replace(text[len(`{"crc32c":"00000000",`):], `"version":2`, `"version":1`, 1)
			})
		}, "make them anew: saga data shard"},
		"version":  {edited(`"version":2`, `"version":7`), "version 7"},
		"cells":    {edited(`"cells":[{`, `"cells":[{"NNZ":0,"DstRows":0,"SrcRows":0},{`), "do not go together"},
		"negative": {edited(`"NNZ":`, `"NNZ":-`), "edges from"},
		"edges":    {edited(`"edges":4`, `"edges":5`), "in all"},
		"width":    {edited(`"feature_cols":5`, `"feature_cols":6`), "column features has"},
	} {
		d, err := Synthetic(spec)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		store, out := filepath.Join(dir, "g.saga"), filepath.Join(dir, "shards")
		if err := WriteStore(store, d, 1); err != nil {
			t.Fatal(err)
		}
		if _, _, err := WriteShards(Sharding{Conversion: Conversion{From: store, Out: out}, Owners: 2}); err != nil {
			t.Fatal(err)
		}
		good, err := OpenShards(out, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		good.Shard.Close()
		if err := c.damage(out); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenShards(out, 1, 2); err == nil || !strings.Contains(err.Error(), c.want) && c.want != "manifest" {
			t.Errorf("%s: %v", what, err)
		}
		if left := openFiles(out); len(left) > 0 {
			t.Errorf("%s: %v are still open", what, left)
		}
	}
}

// openFiles lists the files in dir that this process has open; none on systems without /proc.
func openFiles(dir string) (list []string) {
	const fds = "/proc/self/fd"
	entries, _ := os.ReadDir(fds)
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && strings.HasPrefix(path, dir) {
			list = append(list, path)
		}
	}
	return list
}

// edited replaces a text in the manifest, and makes its checksum right again.
func edited(from, to string) func(dir string) error {
	return func(dir string) error {
		return rewritten(dir, func(text string) string { return signed(strings.Replace(text, from, to, 1)) })
	}
}

// unsigned replaces a text in the manifest.
func unsigned(from, to string) func(dir string) error {
	return func(dir string) error {
		return rewritten(dir, func(text string) string { return strings.Replace(text, from, to, 1) })
	}
}

func rewritten(dir string, f func(text string) string) error {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(f(string(text))), 0o666)
}

// signed is a manifest with its right checksum.
func signed(text string) string {
	const from, to = len(`{"crc32c":"`), len(`{"crc32c":"`) + len(noSum)
	if len(text) < to {
		return text
	}
	text = text[:from] + noSum + text[to:]
	return text[:from] + fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli)) + text[to:]
}

// TestShardsStreamed: shards of a graph are the same whether it is a store or in memory, and whatever the store's grid.
func TestShardsStreamed(t *testing.T) {
	const spec = "synthetic:vertices=90,edges=400,features=5,classes=3,seed=3"
	d, err := Open(spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	from := []string{spec}
	for _, base := range []int{1, 4} {
		path := filepath.Join(dir, "g"+string(rune('0'+base))+".saga")
		if err := WriteStore(path, d, base); err != nil {
			t.Fatal(err)
		}
		from = append(from, path)
	}
	var want map[string]string
	for _, path := range from {
		out := filepath.Join(dir, "shards")
		if _, _, err := WriteShards(Sharding{Conversion: Conversion{From: path, Out: out}, Owners: 2, Chunks: 4, SelfLoops: true}); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		files, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(out, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			got[f.Name()] = string(text)
		}
		if want == nil {
			want = got
		}
		for name, text := range want {
			if got[name] != text || len(got) != 5 {
				t.Errorf("%s: %d files, %s differs: %v", path, len(got), name, got[name] != text)
			}
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
}
