package plantest

import "fmt"

func (c *checker) fail(format string, args ...any) {
	if c.problem == nil {
		c.problem = fmt.Errorf(format, args...)
	}
}

// each visits the units of a range.
func (c *checker) each(d int, at, bytes int64, f func(u *unit, part int64)) {
	if at < 0 || at%unitBytes != 0 || at+bytes > c.p.Peak {
		c.fail("bytes %d..%d of %d", at, at+bytes, c.p.Peak)
		return
	}
	for k := range (bytes + unitBytes - 1) / unitBytes {
		f(&c.units[d][at/unitBytes+k], k)
	}
}

func (c *checker) read(i, d int, what content, at, bytes int64) {
	c.each(d, at, bytes, func(u *unit, part int64) {
		latest := c.latest[what]
		want := what
		want.part = part
		if u.holds != want || u.version != latest {
			c.fail("reads %+v version %d at %d, where %+v version %d is", want, latest, at, u.holds, u.version)
		}
		c.reading(i, u)
	})
}

func (c *checker) write(i, d int, what content, at, bytes int64) {
	c.each(d, at, bytes, func(u *unit, part int64) {
		c.writing(i, u)
		u.holds, u.version = what, c.latest[what]
		u.holds.part = part
	})
}

// before tells whether task j is over before task i starts, in every interleaving.
func (c *checker) before(j, i int) bool {
	return j < 0 || j == i || c.clocks[i][c.p.Tasks[j].Lane()] > j
}

func (c *checker) reading(i int, u *unit) {
	if !c.before(u.write, i) {
		c.fail("may read before %s has written", c.p.Describe(u.write))
	}
	u.reads[c.p.Tasks[i].Lane()] = i
}

func (c *checker) writing(i int, u *unit) {
	if !c.before(u.write, i) {
		c.fail("may write before %s has", c.p.Describe(u.write))
	}
	for _, r := range u.reads {
		if !c.before(r, i) {
			c.fail("may write before %s has read", c.p.Describe(r))
		}
	}
	u.write, u.reads = i, map[int]int{}
}
