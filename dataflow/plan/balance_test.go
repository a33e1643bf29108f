package plan

// WithWindows plans s for one device that visits so many intervals at a time and keeps these windows.
func WithWindows(s *Spec, c *Cells, group int, windows ...Window) *Plan {
	o := Options{Devices: 1, Schedule: Sag}
	return build(s, c, choice{resident: make([]bool, len(s.Values)), slots: 2, group: group, windows: windows}, o, nil)
}
