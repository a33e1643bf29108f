package device

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestMemoryError: the error says what was asked for, what there is, who has the rest, and what would do.
func TestMemoryError(t *testing.T) {
	const mib = 1 << 20
	card := Card{Name: "card", Total: 80 << 30, Free: 2000 * mib}
	for _, x := range []struct {
		users []User
		free  int64
		asked int64
		want  string
	}{
		{[]User{{12, "python3", 3 << 30}, {13, "", 0}}, card.Free, 4 << 30,
			"cuda:0: 4.00 GiB of memory were asked for, and card has 80.00 GiB of memory, of which 1.95 GiB are free; it is used by process 12 (python3) with 3.00 GiB, process 13; --mem 2000MiB or less plans within what is free now, --device takes another GPU"},
		{nil, card.Free, mib,
			"cuda:0: 1.00 MiB of memory were asked for, and card has 80.00 GiB of memory, of which 1.95 GiB are free; who uses the rest cannot be seen from here (nvidia-smi may tell); end what uses the memory, or take another GPU (--device)"},
		{nil, card.Total, 90 << 30,
			"cuda:0: 90.00 GiB of memory were asked for, and card has 80.00 GiB of memory, of which 80.00 GiB are free; --mem 81920MiB or less plans within what is free now, --device takes another GPU"},
	} {
		c := card
		c.Users, c.Free = x.users, x.free
		if got := (&MemoryError{Device: "cuda:0", Asked: x.asked, Card: c}).Error(); got != x.want {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
}

// TestSeen: GPUs as the system lists them, by the names that it has.
func TestSeen(t *testing.T) {
	dir := t.TempDir()
	if got := seenIn(dir); got != nil {
		t.Errorf("an empty folder: %q", got)
	}
	for bus, text := range map[string]string{"0000:00:06.0": "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t 41\n", "0000:00:07.0": "IRQ: 42\n"} {
		if err := os.MkdirAll(filepath.Join(dir, bus), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, bus, "information"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := seenIn(dir), []string{"NVIDIA H100 80GB HBM3", "NVIDIA GPU"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestArena: work that takes what there is leaves room for a context.
func TestArena(t *testing.T) {
	for free, want := range map[int64]int64{0: 1, 690 << 20: 1, 690<<20 + 100: 90} {
		if got := (&Card{Free: free}).Arena(); got != want {
			t.Errorf("%d free: %d, want %d", free, got, want)
		}
	}
}
