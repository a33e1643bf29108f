//go:build !linux

package device

import "errors"

const canMap = false

func mapPages(int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapPages([]byte) error { return errors.ErrUnsupported }

func advisePages([]byte) {}
