package layers_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collection wait for more: models on small graphs spend a good part of their time on it.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
