package sim

import "sagann/dataflow/plan"

// routeOf is the route of copy i over links and disk; nil if task i is no copy.
func (s *simulation) routeOf(i int32) *route {
	switch t := &s.p.Tasks[i]; t.Queue {
	case plan.H2D:
		disk, owner := t.Value >= 0 && s.p.OnDisk(int(t.Value)), int(t.Device)
		if t.Value >= 0 && s.p.Devices > 1 { // a chunk lies on the host of its owner
			owner = s.p.Owner(int(t.Own))
		}
		far := s.m.Devices[owner].host != s.m.Devices[t.Device].host
		switch {
		case disk && far:
			return s.net.farDisk(owner, int(t.Device))
		case disk:
			return &s.net.disks[t.Device]
		case far:
			return &s.net.peers[owner][t.Device]
		}
		return &s.net.hosts[t.Device]
	case plan.D2H:
		if t.Value >= 0 && s.p.OnDisk(int(t.Value)) {
			return &s.net.disksUp[t.Device]
		}
		return &s.net.hostsUp[t.Device]
	case plan.D2D:
		return &s.net.peers[t.From][t.Device]
	}
	return nil
}

// size is the bytes that copy i moves, for a row gather times plan.GatherOverhead.
func (s *simulation) size(i int32) int64 {
	if s.p.Tasks[i].Kind == plan.Results {
		return s.result
	}
	if s.p.Tasks[i].Is.Gather {
		return int64(plan.GatherOverhead * float64(s.p.Tasks[i].Bytes))
	}
	return s.p.Tasks[i].Bytes
}
