package runfolder

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// A JSON file of a run ends with a key crc32c: the checksum of the file without that key.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	sealKey   = ",\n  \"crc32c\": \""
	sealEnd   = "\"\n}\n"
	sealBytes = len(sealKey) + 8 + len(sealEnd)
)

// seal adds the checksum to an indented JSON object.
func seal(text []byte) []byte {
	body, ok := bytes.CutSuffix(text, []byte("\n}\n"))
	if !ok {
		return text
	}
	return fmt.Appendf(bytes.Clone(body), "%s%08x%s", sealKey, crc32.Checksum(text, castagnoli), sealEnd)
}

// Unseal returns a JSON file of a run without its checksum. edited tells that it has one which is that of another text.
// A file of an earlier version has none.
func Unseal(text []byte) (plain []byte, edited bool) {
	at := len(text) - sealBytes
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(sealKey)) || !bytes.HasSuffix(text, []byte(sealEnd)) {
		return text, bytes.Contains(text, []byte(`"crc32c"`))
	}
	plain = append(bytes.Clone(text[:at]), "\n}\n"...)
	sum := text[at+len(sealKey) : at+len(sealKey)+8]
	return plain, string(sum) != fmt.Sprintf("%08x", crc32.Checksum(plain, castagnoli))
}
