package device

// BreakFile makes reads and writes of h fail as on a broken disk.
func BreakFile(h *HostFile) { h.m.f.Close() }
