package main

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sagann/saga"
)

// TestPeersSecret: ranks with a secret write the bytes of one process, and the secret stands in no file and no output. A key
// file is of its maker alone and is not overwritten.
func TestPeersSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if out, err := command(t, "key", key).CombinedOutput(); err != nil || !strings.Contains(string(out), "32 random bytes") {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Fatalf("%v %v", info, err)
	}
	if out, err := command(t, "key", key).CombinedOutput(); err == nil || !strings.Contains(string(out), "exists") {
		t.Errorf("a key is overwritten: %v\n%s", err, out)
	}
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	one, run := filepath.Join(dir, "one"), filepath.Join(dir, "run")
	args := []string{"--data", "karate", "--owners", "2", "--epochs", "3", "--out"}
	if out, err := command(t, append([]string{"train"}, append(args, one)...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rank := 0
	p := startPeersBy(t, 2, func(c *exec.Cmd) *exec.Cmd {
		if rank++; rank == 1 {
			c.Args = append(c.Args, "--peers-secret", key)
		} else {
			c.Env = append(c.Environ(), secretVariable+"="+key)
		}
		return c
	}, append(args, run)...)
	p.wait(t)
	if !bytes.Equal(checkpointOf(t, one), checkpointOf(t, run)) {
		t.Error("another checkpoint than that of one process")
	}
	texts := []string{p.out[0].String(), p.out[1].String()}
	err = filepath.WalkDir(run, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		texts = append(texts, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if strings.Contains(text, string(secret)) || strings.Contains(strings.ToLower(text), hex.EncodeToString(secret)) {
			t.Errorf("the secret stands in %q", text)
		}
	}
}

// TestOrders: a rank writes into the folder that it was given, whatever the first says.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		out, resume, folder, checkpoint string
		ok                              bool
	}{
		{"run", "", "run", "run/checkpoint.safetensors", true},
		{"./run/", "", "run", "run/checkpoint.safetensors", true},
		{"", "run", "run", "run/checkpoint.safetensors", true},
		{"", "", "saga-run-0007", "saga-run-0007/checkpoint.safetensors", true},
		{"", "", "saga-run-0007", "", true},
		{"run", "", "other", "", false},
		{"run", "", "/etc", "", false},
		{"run", "", "run/../../x", "", false},
		{"run", "", "run", "/etc/passwd", false},
		{"run", "", "run", "run/../x", false},
		{"", "", "/tmp/saga-run-0007", "", false},
		{"", "", "saga-run-1/../../x", "", false},
		{"", "", "..", "", false},
		{"", "", "", "", false},
	} {
		cmd := &trainCmd{Out: c.out, Resume: c.resume}
		err := cmd.within(&orders{Folder: c.folder, Train: saga.TrainOptions{Checkpoint: c.checkpoint}})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
