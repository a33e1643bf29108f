package runpage

import (
	"strings"
	"testing"
)

// Names of classes stand in the tables and the matrix of the page.
func TestClassNames(t *testing.T) {
	c := CountClasses(2, []uint32{0, 1, 2}, []int32{0, 1, 1}, []int32{0, 1, 0})
	c.Names = []string{"cat", "dog"}
	v := c.view()
	if v.List[1].Class != "dog" || !strings.HasPrefix(v.Rows[1][0].Title, "class dog predicted as cat") {
		t.Errorf("classes %v, title %q", v.List, v.Rows[1][0].Title)
	}
}
