package tcp

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"runtime"
	"time"
)

// Secret is what the ranks of a run know, and nobody else. Both ends of a connection prove that they know it, and
// everything between them is encrypted: TLS 1.3 with one key, which follows from the secret. There are no certificate
// authorities, no files of certificates and no dates.
type Secret struct{ config *tls.Config }

// SecretBytes is the least size of a secret: 32 random bytes. Anyone who reaches a port can test guesses of a word.
const SecretBytes = 32

const mostSecret = 4096

// ReadSecret reads a secret from a file that other users cannot read.
func ReadSecret(path string) (*Secret, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("secret: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("secret: %s is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o037 != 0:
		return nil, fmt.Errorf("secret: others can read or write %s (mode %04o): chmod 600", path, info.Mode().Perm())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	s, err := NewSecret(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// NewSecret makes a Secret of its bytes, 32 to 4096, as `saga key` writes them.
func NewSecret(b []byte) (*Secret, error) {
	if len(b) < SecretBytes || len(b) > mostSecret {
		return nil, fmt.Errorf("a secret of %d bytes: it has %d to %d, which saga key FILE writes", len(b), SecretBytes, mostSecret)
	}
	seed, err := hkdf.Key(sha256.New, b, nil, "saga peers 1", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	forever := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	is := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: forever}
	cert, err := x509.CreateCertificate(nil, is, is, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Secret{&tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // no authority vouches for the key: VerifyConnection knows it
		SessionTicketsDisabled: true,
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 1 {
				if other, ok := c.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && key.Public().(ed25519.PublicKey).Equal(other) {
					return nil
				}
			}
			return errOtherSecret
		},
	}}, nil
}

var errOtherSecret = errors.New("it has another secret")

// String tells nothing.
func (s *Secret) String() string { return "a secret" }

// GoString tells nothing.
func (s *Secret) GoString() string { return "a secret" }
