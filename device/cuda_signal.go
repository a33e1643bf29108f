//go:build cuda

package device

/*
#include <signal.h>
#include <stddef.h>

// Has every handler run on the stack that is set aside for handlers.
static void saga_signals_aside(void) {
	for (int s = 1; s < NSIG; s++) {
		struct sigaction a;
		if (sigaction(s, NULL, &a) || a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN || (a.sa_flags & SA_ONSTACK)) continue;
		a.sa_flags |= SA_ONSTACK;
		sigaction(s, &a, NULL);
	}
}
*/
import "C"

// signalsAside sets the flag SA_ONSTACK of all signal handlers. The driver's libraries install
// handlers without it. A signal that arrives while a thread runs Go code is then handled on a
// goroutine's stack, and the Go runtime ends the process with "non-Go code set up signal handler
// without SA_ONSTACK flag". So an interrupt would lose what a clean stop writes. It is called after
// the driver was initialised, after a device was opened and after kernels were loaded.
func signalsAside() { C.saga_signals_aside() }
