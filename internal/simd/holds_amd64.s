//go:build amd64 && !noasm

#include "textflag.h"

// func holdsAVX2(found *bool, list *uint32, begins *int64, counts, keys *uint32, n int)
// Halves rows of more than 8 numbers, then compares 8 at once.
TEXT ·holdsAVX2(SB), NOSPLIT, $0-48
	MOVQ    found+0(FP), DI
	MOVQ    list+8(FP), SI
	MOVQ    begins+16(FP), R8
	MOVQ    counts+24(FP), R9
	MOVQ    keys+32(FP), R10
	MOVQ    n+40(FP), R11
	VMOVDQU iota<>+0(SB), Y15

rows:
	MOVQ (R8), AX
	LEAQ (SI)(AX*4), AX
	MOVL (R9), CX
	MOVL (R10), DX
	CMPL CX, $8
	JLE  compare

halve:
	MOVL    CX, BX
	SHRL    $1, BX
	LEAQ    (AX)(BX*4), R12
	CMPL    DX, (R12)
	CMOVQCC R12, AX
	SUBL    BX, CX
	CMPL    CX, $8
	JGT     halve

compare:
	VMOVD        CX, X0
	VPBROADCASTD X0, Y0
	VMOVD        DX, X1
	VPBROADCASTD X1, Y1
	VPCMPGTD     Y15, Y0, Y2
	VPMASKMOVD   (AX), Y2, Y6
	VPCMPEQD     Y1, Y6, Y6
	VPTEST       Y2, Y6
	SETNE        (DI)
	ADDQ         $8, R8
	ADDQ         $4, R9
	ADDQ         $4, R10
	ADDQ         $1, DI
	SUBQ         $1, R11
	JNE          rows
	VZEROUPPER
	RET

DATA iota<>+0(SB)/4, $0
DATA iota<>+4(SB)/4, $1
DATA iota<>+8(SB)/4, $2
DATA iota<>+12(SB)/4, $3
DATA iota<>+16(SB)/4, $4
DATA iota<>+20(SB)/4, $5
DATA iota<>+24(SB)/4, $6
DATA iota<>+28(SB)/4, $7
GLOBL iota<>(SB), RODATA, $32
