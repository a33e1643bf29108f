package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionOf: the module's version wins, then the revision of the sources.
func TestVersionOf(t *testing.T) {
	at := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, x := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{at("v1.2.3", revision), "v1.2.3"},
		{at("(devel)", revision), "revision 0123456789ab"},
		{at("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "revision 0123456789ab, modified"},
		{at("(devel)"), "(devel)"},
	} {
		if got := versionOf(x.info); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
