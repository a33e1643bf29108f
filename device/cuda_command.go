//go:build cuda

package device

import (
	"errors"
	"fmt"
)

// name is what a trace calls the command.
func (c *Command) name() string {
	switch {
	case c.Call != nil:
		return c.Call.Func.Name()
	case c.Gemm != nil:
		return fmt.Sprintf("sgemm %d×%d×%d", c.Gemm.M, c.Gemm.N, c.Gemm.K)
	}
	return "clear"
}

// beside reports whether the command may run at the same time as the next one.
func (c *Command) beside() bool {
	return c.Call != nil && c.Call.Beside
}

// check returns an error for a malformed command.
func (c *Command) check() error {
	n := 0
	if c.Call != nil {
		n++
		if c.Call.Func == nil {
			return errors.New("a call of no function")
		}
	}
	if c.Clear != nil {
		n++
		if c.Clear.Bytes < 0 || c.Clear.Bytes%4 != 0 || c.Clear.Addr%4 != 0 {
			return errors.New("a clear of broken words")
		}
	}
	if g := c.Gemm; g != nil {
		n++
		if g.M < 0 || g.N < 0 || g.K < 0 || g.LDA < 1 || g.LDB < 1 || g.LDC < g.N {
			return errors.New("a product of impossible sizes")
		}
	}
	if n != 1 {
		return errors.New("a command must be one of call, product and clear")
	}
	return nil
}
