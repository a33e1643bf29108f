//go:build !cuda && !nvrtc

package nvrtc

// PTX returns ErrMissing.
func PTX(source string, arch int) (string, error) { return "", ErrMissing }
