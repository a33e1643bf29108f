package tune

// Kinds are the schedules of the kinds that p's seeds have, and whether the search has worked enough once it has done work.
func Kinds(p *Problem, schedules []string, work int) (seen map[string]bool, moves, enough bool, err error) {
	s := &search{p: p, e: newEvaluator(p), step: 1, schedules: schedules, lanes: map[lane]*Eval{}}
	if err := s.seed(); err != nil {
		return nil, false, false, err
	}
	seen = map[string]bool{}
	for _, x := range s.fastest(10, true) {
		seen[x.Schedule] = true
	}
	s.e.work = work
	return seen, s.best.Moves, s.enough(), nil
}
