package runpage

import (
	"path/filepath"
	"reflect"
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
	want, err := readRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	draw.Damage(t, path, 2000, func(what string) {
		got, err := readRecord(path)
		switch {
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("%s: another report is read", what)
		case err != nil && !strings.Contains(err.Error(), RecordFile):
			t.Errorf("%s: %v", what, err)
		case err != nil:
			refused++
		}
	})
	t.Logf("%d of 2000 refused", refused)
}
