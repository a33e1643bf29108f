package runpage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sagann/internal/draw"
	"sagann/internal/runfolder"
)

// TestReportDamage: report.json with a bit flipped, or cut, is an error that names the file, or read as before.
func TestReportDamage(t *testing.T) {
	f := &runfolder.Folder{Dir: t.TempDir()}
	r := long(3, 4).Record
	r.Memory.Parts, r.Times.Work = r.Memory.Parts[:3], r.Times.Work[:3]
	if err := f.WriteJSON(RecordFile, r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.Dir, RecordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := readRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd, refused := rand.New(rand.NewPCG(draw.Seed(t), 1)), 0
	for range 2000 {
		other, at := slices.Clone(text), rnd.IntN(len(text))
		bit := rnd.IntN(9)
		what := fmt.Sprintf("bit %d of byte %d", bit, at)
		if bit < 8 {
			other[at] ^= 1 << bit
		} else {
			other, what = other[:at], fmt.Sprintf("cut at byte %d", at)
		}
		if err := os.WriteFile(path, other, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := readRecord(path)
		switch {
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("%s: another report is read", what)
		case err != nil && !strings.Contains(err.Error(), RecordFile):
			t.Errorf("%s: %v", what, err)
		case err != nil:
			refused++
		}
	}
	t.Logf("%d bytes: %d of 2000 refused", len(text), refused)
}
