//go:build amd64 && !noasm

#include "textflag.h"

// func getMXCSR() uint32
TEXT ·getMXCSR(SB), NOSPLIT, $0-4
	STMXCSR ret+0(FP)
	RET

// func setMXCSR(x uint32)
TEXT ·setMXCSR(SB), NOSPLIT, $0-4
	LDMXCSR x+0(FP)
	RET

// func Fence()
TEXT ·Fence(SB), NOSPLIT, $0-0
	SFENCE
	RET
