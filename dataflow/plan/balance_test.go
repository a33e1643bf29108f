package plan

// Balance makes plans deal memory out by kernel times, in ns by phase, as Search does.
func (o *Options) Balance(kernels []float64, ahead, hidden float64) {
	o.rule.level = &level{kernels: kernels, down: 1, up: 1, both: 1.5, ahead: ahead, hidden: hidden}
}

// WithWindows plans s for one device that visits so many intervals at a time and keeps these windows.
func WithWindows(s *Spec, c *Cells, group int, windows ...Window) *Plan {
	o := Options{Devices: 1, Schedule: Sag}
	return build(s, c, choice{resident: make([]bool, len(s.Values)), slots: 2, group: group, windows: windows}, o)
}
