//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

//go:noescape
func pairs4(set, rows *uint64) uint64

//go:noescape
func pairs4AVX512(set, rows *uint64) uint64

//go:noescape
func pairsMore(set *uint64, words int, rows *uint64) uint64

//go:noescape
func pairsMoreAVX512(set *uint64, words int, rows *uint64) uint64

// counts tells whether the processor counts bits in vector registers, and scalar whether in
// others; most of level AVX512 do the former, all of level AVX2 the latter.
var counts, scalar = cpu.X86.HasAVX512VPOPCNTDQ, cpu.X86.HasPOPCNT && cpu.X86.HasBMI1

// pairsAsm is Pairs where there is assembly for it.
func pairsAsm(set, rows []uint64) (uint64, bool) {
	if active == Go || !scalar {
		return 0, false
	}
	words := len(set)
	switch wide := active == AVX512 && counts; {
	case words == 0:
		return 0, true
	case words == 4 && wide:
		return pairs4AVX512(&set[0], &rows[0]), true
	case words == 4:
		return pairs4(&set[0], &rows[0]), true
	case wide:
		return pairsMoreAVX512(&set[0], words, &rows[0]), true
	}
	return pairsMore(&set[0], words, &rows[0]), true
}
