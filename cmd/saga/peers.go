package main

import (
	"cmp"
	"errors"
	"fmt"
	stdnet "net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/internal/cli"
	"sagann/net"
	"sagann/net/tcp"
)

// secretVariable is the environment variable that names the file of the secret, as --peers-secret does.
const secretVariable = "SAGA_PEERS_SECRET"

// peers joins the ranks over sockets.
func (f *peerFlags) peers(a *app, say func(string)) (net.Link, error) {
	if int(f.Rank) >= len(f.Peers) {
		return nil, cli.Usagef("--rank %d of %d --peers: they count from 0", f.Rank, len(f.Peers))
	}
	for i, peer := range f.Peers {
		if host, port, err := stdnet.SplitHostPort(peer); err != nil || host == "" || port == "" {
			return nil, cli.Usagef("--peers: %q is no address, such as hosta:7000", peer)
		} else if slices.Contains(f.Peers[:i], peer) {
			return nil, cli.Usagef("--peers: %s stands twice; every rank listens at its own address", peer)
		}
	}
	if _, _, err := stdnet.SplitHostPort(f.Listen); f.Listen != "" && err != nil {
		return nil, cli.Usagef("--listen: %q is no address, such as 10.0.0.7:7000", f.Listen)
	}
	log := a.Log // of this process, as say is
	o := tcp.Options{Peers: f.Peers, Rank: int(f.Rank), Timeout: f.NetTimeout, Since: begun, Say: say, End: func() { os.Exit(exitFailure) },
		Trusted: f.PeersOpen, Listen: f.Listen, Note: func(text string) { log.Warn(text) }}
	if file := cmp.Or(f.PeersSecret, os.Getenv(secretVariable)); file != "" {
		if f.PeersOpen {
			return nil, cli.Usagef("--peers-open is for ranks without a secret, and %s is one (--peers-secret, %s)", file, secretVariable)
		}
		var err error
		if o.Secret, err = tcp.ReadSecret(file); err != nil {
			return nil, cli.Usagef("--peers-secret or %s: %w", secretVariable, err)
		}
	}
	if f.PeersOpen && len(f.Peers) > 1 {
		a.Log.Warn("the network is trusted (--peers-open): whoever reaches the ports of the ranks can take part in the run, and nothing is encrypted")
	}
	link, err := tcp.Open(o)
	if errors.Is(err, tcp.ErrOpen) {
		return nil, cli.Usagef("%w: saga key FILE makes one, --peers-secret FILE or %s=FILE gives it to every rank; --peers-open does without, on a network that is trusted", err, secretVariable)
	}
	return link, err
}

// within returns an error if the orders of the first rank name a folder that this rank was not given. A rank writes there
// only.
func (c *trainCmd) within(o *orders) error {
	given := cmp.Or(c.Out, c.Resume)
	if given == "" { // a new folder here
		if filepath.Base(o.Folder) != filepath.Clean(o.Folder) || !strings.HasPrefix(o.Folder, "saga-run-") {
			return cli.Usagef("the first rank writes to %q, and this rank was given no folder: start all ranks with the same --out", o.Folder)
		}
	} else if mine, err := filepath.Abs(given); err != nil {
		return err
	} else if its, err := filepath.Abs(o.Folder); err != nil || its != mine {
		return cli.Usagef("the first rank writes to %q, and this rank was given %q: start all ranks with the same --out or --resume", o.Folder, given)
	}
	for _, path := range []string{o.Train.Checkpoint, o.Train.Resume} {
		if path != "" && filepath.Dir(path) != filepath.Clean(o.Folder) {
			return fmt.Errorf("the first rank names the checkpoint %q, which is not in %q", path, o.Folder)
		}
	}
	return nil
}
