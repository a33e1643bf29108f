package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"sagann/internal/simd"
)

// versionCmd is saga version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.Stdout, "saga %s, %s %s/%s, SIMD %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, simd.Active())
	return err
}

// version is that of the module, with the commit where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
