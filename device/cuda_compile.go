//go:build cuda

package device

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gorgonia.org/cu/nvrtc"
)

type cudaFunc struct {
	dev  *CUDA
	name string
	f    cuFunc
}

func (f *cudaFunc) Name() string { return f.name }

// Compile translates source with NVRTC for this GPU and loads it.
func (d *CUDA) Compile(source string, names []string) ([]Function, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	ptx, err := cudaPTX(source, d.arch)
	if err != nil {
		return nil, err
	}
	m, fs, err := cuLoad(d.ctx, ptx, names)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.modules = append(d.modules, m)
	d.mu.Unlock()
	out := make([]Function, len(fs))
	for i, f := range fs {
		out[i] = &cudaFunc{d, names[i], f}
	}
	return out, nil
}

// cudaPTX compiles source for compute capability arch, or reads what an earlier
// run left in the user's cache folder under the hash of all that matters. A cache
// that cannot be read or written is no error.
func cudaPTX(source string, arch int) (string, error) {
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

// keep writes a cache file whole or not at all.
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

// cudaBatch is commands in C memory.
type cudaBatch struct {
	dev   *CUDA
	first *cuCommand
	n     int
	gemm  bool
	free  func()
}

func (b *cudaBatch) Commands() int { return b.n }

// Prepare checks the commands and lays them out for the driver.
func (d *CUDA) Prepare(list []Command) (Batch, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	b := &cudaBatch{dev: d, n: len(list)}
	for i := range list {
		c := &list[i]
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("command %d: %w", i, err)
		}
		b.gemm = b.gemm || c.Gemm != nil
		if c.Call != nil {
			if f, ok := c.Call.Func.(*cudaFunc); !ok || f.dev != d {
				return nil, fmt.Errorf("command %d: function is not this device's", i)
			}
		}
	}
	b.first, b.free = cuCommands(list, func(f Function) cuFunc { return f.(*cudaFunc).f })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		b.free()
		return nil, ErrClosed
	}
	d.batches = append(d.batches, b)
	return b, nil
}
