package plan

// Balance makes plans deal memory out by kernel times, in ns by phase, as Search does.
func (o *Options) Balance(kernels []float64, ahead, hidden float64) {
	o.taste.level = &level{kernels: kernels, down: 1, up: 1, both: 1.5, ahead: ahead, hidden: hidden}
}
