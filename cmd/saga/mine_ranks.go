package main

import (
	"fmt"
	"os"
	"strconv"

	"sagann/net"
)

// rankOf is this process among those that share a search; nil: it is alone. Only the first prints and writes.
func (f *peerFlags) rankOf(a *app) (*ranks, error) {
	link, err := f.link(a)
	if link == nil || err != nil {
		return nil, err
	}
	t := &ranks{group: net.Over(link), stderr: a.Stderr, log: &laterFile{}}
	if t.follows() {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		a.Stdout, a.Stderr, a.Log = null, null, newLogger(null)
	}
	return t, nil
}

// net is the group of the ranks; nil: one.
func (t *ranks) net() *net.Group {
	if t == nil {
		return nil
	}
	return t.group
}

// moved is how many bytes of results all ranks have sent each other, as fields and as text. All ranks call it.
func (t *ranks) moved() (x fields, text string, err error) {
	if t == nil {
		return nil, "", nil
	}
	sent, _ := t.group.Moved()
	_, texts, err := t.group.Vote("bytes moved", 0, strconv.FormatInt(crossing([][]int64{sent}), 10))
	if err != nil {
		return nil, "", err
	}
	all := int64(0)
	for _, s := range texts {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, "", err
		}
		all += n
	}
	return fields{{"ranks", t.group.Ranks()}, {"moved_bytes", all}}, fmt.Sprintf("ranks     %d, which sent each other %d bytes\n", t.group.Ranks(), all), nil
}
