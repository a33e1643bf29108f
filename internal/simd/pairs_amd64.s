//go:build amd64 && !noasm

#include "textflag.h"

// pairs*: SI is the set, DI the row of bit 0 of the word at hand, BX the bits of that word
// that are left, CX a row, AX and R12 sums.

// COMMON adds the number of bits that a word of the set and of the row have in common.
#define COMMON(word, at, sum) \
	MOVQ    word, DX; \
	ANDQ    at(CX), DX; \
	POPCNTQ DX, DX; \
	ADDQ    DX, sum

// func pairs4(set, rows *uint64) uint64
TEXT ·pairs4(SB), NOSPLIT, $0-24
	MOVQ set+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	XORL AX, AX
	XORL R12, R12
	MOVQ R8, BX
	TESTQ BX, BX
	JZ   word1

loop0:
	TZCNTQ BX, CX
	SHLQ   $5, CX
	ADDQ   DI, CX
	COMMON(R8, 0, AX)
	COMMON(R9, 8, R12)
	COMMON(R10, 16, AX)
	COMMON(R11, 24, R12)
	BLSRQ  BX, BX
	JNZ    loop0

word1:
	ADDQ  $2048, DI
	MOVQ  R9, BX
	TESTQ BX, BX
	JZ    word2

loop1:
	TZCNTQ BX, CX
	SHLQ   $5, CX
	ADDQ   DI, CX
	COMMON(R9, 8, AX)
	COMMON(R10, 16, R12)
	COMMON(R11, 24, AX)
	BLSRQ  BX, BX
	JNZ    loop1

word2:
	ADDQ  $2048, DI
	MOVQ  R10, BX
	TESTQ BX, BX
	JZ    word3

loop2:
	TZCNTQ BX, CX
	SHLQ   $5, CX
	ADDQ   DI, CX
	COMMON(R10, 16, AX)
	COMMON(R11, 24, R12)
	BLSRQ  BX, BX
	JNZ    loop2

word3:
	ADDQ  $2048, DI
	MOVQ  R11, BX
	TESTQ BX, BX
	JZ    end

loop3:
	TZCNTQ BX, CX
	SHLQ   $5, CX
	ADDQ   DI, CX
	COMMON(R11, 24, AX)
	BLSRQ  BX, BX
	JNZ    loop3

end:
	ADDQ R12, AX
	MOVQ AX, ret+16(FP)
	RET

// func pairsMore(set *uint64, words int, rows *uint64) uint64
//
// R8 is the number of words, R9 bytes of a row, R10 the word at hand, R11 the first of its
// four, R13 the end of the set, R14 and R15 go through set and row.
TEXT ·pairsMore(SB), NOSPLIT, $0-32
	MOVQ set+0(FP), SI
	MOVQ words+8(FP), R8
	MOVQ rows+16(FP), DI
	LEAQ (R8*8), R9
	LEAQ (SI)(R8*8), R13
	XORL AX, AX
	XORL R12, R12
	MOVQ SI, R10

word:
	MOVQ  (R10), BX
	TESTQ BX, BX
	JZ    next
	MOVQ  R10, R11
	SUBQ  SI, R11
	ANDQ  $-32, R11

bit:
	TZCNTQ BX, CX
	IMULQ  R9, CX
	ADDQ   DI, CX
	ADDQ   R11, CX
	LEAQ   (SI)(R11*1), R8

four:
	MOVQ    (R8), DX
	ANDQ    (CX), DX
	POPCNTQ DX, DX
	ADDQ    DX, AX
	MOVQ    8(R8), DX
	ANDQ    8(CX), DX
	POPCNTQ DX, DX
	ADDQ    DX, R12
	MOVQ    16(R8), DX
	ANDQ    16(CX), DX
	POPCNTQ DX, DX
	ADDQ    DX, AX
	MOVQ    24(R8), DX
	ANDQ    24(CX), DX
	POPCNTQ DX, DX
	ADDQ    DX, R12
	ADDQ    $32, R8
	ADDQ    $32, CX
	CMPQ    R8, R13
	JLT     four
	BLSRQ   BX, BX
	JNZ     bit

next:
	MOVQ R9, CX
	SHLQ $6, CX
	ADDQ CX, DI
	ADDQ $8, R10
	CMPQ R10, R13
	JLT  word
	ADDQ R12, AX
	MOVQ AX, ret+24(FP)
	RET
