package tables

import "sagann/internal/cli"

// Short names of what commands share.
type (
	app    = cli.App
	fields = cli.Fields
	field  = cli.Field
	count  = cli.Count
	memory = cli.Memory
	auto   = cli.Auto
)
