//go:build cuda || nvrtc

package nvrtc

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCache: what was kept is read again; a file that was cut off or changed is not; the folder is the user's alone; files
// that nothing has read for long go away.
func TestCache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	dir := filepath.Join(home, "sagann", "cuda")
	name, code := keyOf(13, 0, "sm_90", "source"), []byte("machine code")
	if kept(name) != nil {
		t.Error("an empty folder has code")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old.cubin")
	if err := os.WriteFile(old, code, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * keepFor)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	keep(name, code)
	if got := kept(name); !bytes.Equal(got, code) {
		t.Fatalf("kept %q", got)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old file is there")
	}
	file := filepath.Join(dir, name)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{"cut off": whole[:len(whole)-1], "changed": append(whole[:len(whole)-1:len(whole)-1], 'x'), "short": whole[:3]} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := kept(name); got != nil {
			t.Errorf("a file that was %s gives %q", what, got)
		}
	}
	for _, other := range []string{keyOf(13, 1, "sm_90", "source"), keyOf(13, 0, "sm_80", "source"), keyOf(13, 0, "sm_90", "sources")} {
		if other == name {
			t.Error("two texts, architectures or versions share a file")
		}
	}
}
