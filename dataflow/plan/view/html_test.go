package view_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/plan/view"
)

// long is a plan of n tasks: chunks are loaded, worked on and saved, phase by phase.
func long(n int) *plan.Plan {
	s := plantest.NewScript()
	s.Spec.Phases = append(s.Spec.Phases, s.Spec.Phases[0], s.Spec.Phases[0])
	s.Peak = 3000
	s.Places.Memory = []plan.Buffer{{Name: "features", At: 0, Bytes: 1000, From: plan.Whole, To: plan.Whole}, {Name: "<slot>", At: 1000, Bytes: 2000, From: 1, To: 2}}
	for i := 0; i < n; i += 3 {
		l := s.Task(plan.H2D, 100+int64(i%7))
		r := s.Task(plan.Compute, 90+int64(i%11), l)
		s.Task(plan.D2H, 40, r)
		for k := range s.Tasks[i:] {
			s.Tasks[i+k].Phase, s.Tasks[i+k].Own = int32(3*i/n), int32(i/3%64)
		}
	}
	return &s.Plan
}

func writePage(t *testing.T, p *plan.Plan, line *sim.Timeline) (path, text string) {
	t.Helper()
	var b strings.Builder
	g := &view.Page{Title: "a </script> plan", Summary: "grid & <schedule>", Label: func(i int) (string, string) {
		return p.Activity(&p.Tasks[i]), "</script><b>lines</b>"
	}}
	if err := g.Write(&b, p, line); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "plan.html")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, b.String()
}

// The page asks for nothing else, and text from outside stays text.
func TestPageAlone(t *testing.T) {
	p := long(300)
	for _, line := range []*sim.Timeline{nil, sim.Simulate(p, plantest.Toy(2, 0))} {
		_, text := writePage(t, p, line)
		if m := regexp.MustCompile(`(?i)https?://|<link|src=|@import|url\(`).FindString(text); m != "" {
			t.Errorf("the page asks for something: %s", m)
		}
		if n := strings.Count(text, "</script>"); n > 1 || strings.Contains(text, "<slot>") || strings.Contains(text, "<b>lines") {
			t.Errorf("text became markup: %d ends of scripts", n)
		}
		if (line != nil) != strings.Contains(text, "<canvas") {
			t.Errorf("timeline %v, canvas %v", line != nil, line == nil)
		}
	}
}

// chromium is a browser that shows pages without a screen.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium is installed, so that no browser opens the page")
	return ""
}

// A browser draws a hundred thousand tasks and says of one of them what it is.
func TestPageInBrowser(t *testing.T) {
	browser := chromium(t)
	const n = 99999
	p := long(n)
	line := sim.Simulate(p, plantest.Toy(2, 3))
	path, _ := writePage(t, p, line)
	dir := t.TempDir()
	open := func(hash string, flags ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		args := append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + dir,
			"--window-size=1400,900", "--virtual-time-budget=2000"}, flags...)
		out, err := exec.CommandContext(ctx, browser, append(args, "file://"+path+hash)...).Output()
		if err != nil {
			t.Skipf("%s does not run here: %v", browser, err)
		}
		return string(out)
	}
	const task = 50002 // a kernel of chunk 27
	dom := open(fmt.Sprintf("#task=%d", task), "--dump-dom")
	for _, want := range []string{fmt.Sprintf(`data-tasks="%d"`, n), "waited for device 0 h2d: load cell csc · chunk 27", fmt.Sprintf("task %d of %d", task, n), "device 0 compute"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not show %q: %s", want, regexp.MustCompile(`(?s)<div id="tip".*?</div>`).FindString(dom))
		}
	}
	shot := filepath.Join(dir, "page.png")
	open("#from=0.2&to=0.201", "--screenshot="+shot)
	if info, err := os.Stat(shot); err != nil || info.Size() < 10000 {
		t.Errorf("no picture was taken: %v", err)
	}
}
