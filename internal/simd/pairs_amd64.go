//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

//go:noescape
func pairs4(set, rows *uint64) uint64

//go:noescape
func pairsMore(set *uint64, words int, rows *uint64) uint64

// popcount says whether the processor has the instructions, as all processors with level AVX2 do.
var popcount = cpu.X86.HasPOPCNT && cpu.X86.HasBMI1

// pairsAsm is Pairs where there is assembly for it.
func pairsAsm(set, rows []uint64) (uint64, bool) {
	switch words := len(set); {
	case active == Go || !popcount:
		return 0, false
	case words == 0:
		return 0, true
	case words == 4:
		return pairs4(&set[0], &rows[0]), true
	default:
		return pairsMore(&set[0], words, &rows[0]), true
	}
}
