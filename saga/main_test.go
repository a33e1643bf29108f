package saga_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collection wait for more: searches on small graphs make many short-lived plans.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
