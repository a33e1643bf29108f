package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"sagann/internal/simd"
)

// versionCmd is saga version.
type versionCmd struct{}

// versionFlag is saga --version.
type versionFlag bool

// BeforeReset prints the version and ends the program, as --help does.
func (versionFlag) BeforeReset(k *kong.Kong) error {
	if _, err := fmt.Fprintln(k.Stdout, versionLine()); err != nil {
		return err
	}
	k.Exit(exitOK)
	return nil
}

// Run prints the version.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.Stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("saga %s, %s %s/%s, SIMD %s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, simd.Active())
}

// version is that of the module or, where it has none, the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return develVersion
	}
	return versionOf(info)
}

// develVersion is what Go calls a module that is built from a folder of sources.
const develVersion = "(devel)"

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != develVersion {
		return v
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	switch revision := setting["vcs.revision"]; {
	case revision == "":
		return develVersion
	case setting["vcs.modified"] == "true":
		return fmt.Sprintf("revision %.12s, modified", revision)
	default:
		return fmt.Sprintf("revision %.12s", revision)
	}
}
