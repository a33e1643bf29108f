//go:build cuda || nvrtc

package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/singleflight"
	"gorgonia.org/cu/nvrtc"
)

// PTX compiles source for compute capability arch (90 for 9.0). The result is cached in the
// user's cache folder, under a hash of everything it depends on, and read from there by later calls.
// Failing to read or write the cache is no error. Errors of the compiler include
// its log. Concurrent calls with the same arguments compile once.
func PTX(source string, arch int) (string, error) {
	ptx, err, _ := flights.Do(fmt.Sprintf("%d %s", arch, source), func() (any, error) { return translate(source, arch) })
	if err != nil {
		return "", err
	}
	return ptx.(string), nil
}

// flights are the compilations under way.
var flights singleflight.Group

func translate(source string, arch int) (string, error) {
	major, minor, err := nvrtc.Version()
	if err != nil {
		return "", err
	}
	options := []string{fmt.Sprintf("--gpu-architecture=compute_%d", arch), "--std=c++17"}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d %q\n%s", major, minor, options, source))
	var file string
	if dir, err := os.UserCacheDir(); err == nil {
		file = filepath.Join(dir, "sagann", "cuda", hex.EncodeToString(sum[:])+".ptx")
		if b, err := os.ReadFile(file); err == nil {
			return string(b), nil
		}
	}
	p, err := nvrtc.CreateProgram(source, "kernels.cu")
	if err != nil {
		return "", err
	}
	defer p.Destroy()
	if err := p.Compile(options...); err != nil {
		log, _ := p.GetLog()
		return "", fmt.Errorf("NVRTC: %w\n%s", err, log)
	}
	ptx, err := p.GetPTX()
	if err != nil {
		return "", err
	}
	if file != "" {
		keep(file, ptx)
	}
	return ptx, nil
}

// keep writes a cache file atomically.
func keep(file, text string) {
	if os.MkdirAll(filepath.Dir(file), 0o777) != nil {
		return
	}
	t, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return
	}
	_, err = t.WriteString(text)
	if errors.Join(err, t.Close()) != nil || os.Rename(t.Name(), file) != nil {
		os.Remove(t.Name())
	}
}
