package sample

import (
	"crypto/sha256"
	"fmt"
)

// Digest is a hash of what a sampler draws, in 16 hexadecimal digits. Programs with equal digests
// draw equal samples from equal graphs with equal keys. It covers the traced functions and the
// settings, not the sampler's name or the files and lines of its functions. Of a sampler with
// Unbounded steps it covers Size at step 0 only.
func (p *Program) Digest() string {
	h, s := sha256.New(), &p.s
	fmt.Fprintln(h, s.Steps, p.sizes, s.roots(), s.Over, s.Replace, s.KeepLoops, s.Unique, s.Most, s.Width, s.RowNormal, s.Output, s.Top, s.Length, s.Method)
	if s.Over == Collective && p.score != nil {
		fmt.Fprintln(h, "edges by score") // not sources in the order in which they appear
	}
	for _, f := range s.State {
		fmt.Fprintln(h, f.Len, f.Roots)
	}
	for _, c := range []*code{p.code, p.transits, p.score, p.edge} {
		if c == nil {
			fmt.Fprintln(h, "none")
			continue
		}
		fmt.Fprintln(h, c.result, c.sites, c.pack)
		for _, x := range c.list {
			fmt.Fprintln(h, x.op, x.a, x.b, x.c, x.imm, x.real)
		}
	}
	return fmt.Sprintf("%.8x", h.Sum(nil))
}
