package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"sagann/net/tcp"
)

// keyCmd is saga key.
type keyCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The file to make. It must not exist."`
}

// Help is what stands under the usage line.
func (keyCmd) Help() string {
	return `Writes 32 random bytes, which only you can read (mode 0600). Copy the file to every host of a run, in a way that nobody else
can read, and start all ranks with --peers-secret FILE, or with SAGA_PEERS_SECRET=FILE in their environment.`
}

// Run writes the secret.
func (c *keyCmd) Run(a *app) (err error) {
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(c.File))
		}
	}()
	secret := make([]byte, tcp.SecretBytes)
	rand.Read(secret)
	if _, err := f.Write(secret); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: a secret of %d random bytes\n", c.File, len(secret))
	return err
}
