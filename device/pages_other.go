//go:build !linux

package device

import "errors"

const canMap = false

func mapPages(int) (b, all []byte, err error) { return nil, nil, errors.ErrUnsupported }

func unmapPages([]byte) error { return errors.ErrUnsupported }

func advisePages([]byte) {}
