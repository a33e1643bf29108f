package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
)

// Machines is the folder of measured machines, in the user's cache folder; "": there is none.
func Machines() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sagann", "machines")
}

// Slug is text in letters, digits and hyphens.
func Slug(text string) string {
	return strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	}), "-"), "-")
}

// MeasuredRates is raised when other rates are measured, so that cards are measured again: 2 since products of groups of warps are.
const MeasuredRates = 2

// MachineFile is the name of the file for GPUs such as c, n of them: what rates depend on is in it.
func MachineFile(c *device.Card, n int) string {
	return fmt.Sprintf("%s_driver-%s_%dw_rates-%d_x%d.json", Slug(c.Name), Slug(cmp.Or(c.Driver, "unknown")), c.Watts, MeasuredRates, n)
}

// ready are machine models of one GPU that this program brings, by what the names of such GPUs have in them.
var ready = []struct{ card, machine string }{{"h200", "h200"}, {"h100", "h100"}, {"a100", "a100"}}

// NearestMachine is the ready model for a GPU of that name, and n of them.
func NearestMachine(kind *backend.Kind, name string, n int) string {
	if n > 1 {
		return kind.Several
	}
	for _, r := range ready {
		if strings.Contains(strings.ToLower(name), r.card) && slices.Contains(sim.Machines(), r.machine) {
			return r.machine
		}
	}
	return kind.Model
}

// PlannedMachine is the model for a plan that nothing is run of: the driver is not asked. It is a measured one of a card with the
// name that the system lists, the newest, or the nearest ready one.
func PlannedMachine(spec string) string {
	kind, usual, seen := backend.Of(spec), backend.MachineOf(spec), device.Seen()
	n, err := device.Count(spec)
	if usual == "" || kind.System == nil || len(seen) == 0 || err != nil {
		return usual
	}
	files, _ := filepath.Glob(filepath.Join(Machines(), fmt.Sprintf("%s_*_rates-%d_x%d.json", Slug(seen[0]), MeasuredRates, n)))
	newest, best := time.Time{}, ""
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.ModTime().After(newest) {
			newest, best = info.ModTime(), f
		}
	}
	return cmp.Or(best, NearestMachine(kind, seen[0], n))
}
