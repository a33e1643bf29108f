package cuda

import (
	"os"
	"testing"

	"sagann/mine/cuda/cudatest"
)

// TestMain removes what the emulation of GPUs has built.
func TestMain(m *testing.M) {
	code := m.Run()
	cudatest.Remove()
	os.Exit(code)
}
