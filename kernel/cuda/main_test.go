package cuda_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collection wait for more: texts of many models are made and left.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
