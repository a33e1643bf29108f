package kernel

// GPUArg is an argument of a GPU's kernel, by the name of the parameter that takes it.
type GPUArg struct {
	Name    string
	Value   uint64
	Pointer bool // Value is an address
}

// GPUArgs are the arguments of a launch, in any order. That of the parameters is found fastest.
type GPUArgs []GPUArg

// GPUAt is the address of memory as an argument; 0: there is none.
func GPUAt(name string, address uint64) GPUArg { return GPUArg{name, address, true} }

// GPUNumber is a number as an argument.
func GPUNumber[T ~int | ~int64 | ~uint32 | ~uint64](name string, x T) GPUArg {
	return GPUArg{name, uint64(x), false}
}

// GPUFlag is a number as an argument: 1 if x, else 0.
func GPUFlag(name string, x bool) GPUArg {
	if x {
		return GPUArg{name, 1, false}
	}
	return GPUArg{name, 0, false}
}

// Len is the number of arguments.
func (a GPUArgs) Len() int { return len(a) }

// Arg is one of them.
func (a GPUArgs) Arg(i int) (name string, value uint64, pointer bool) {
	return a[i].Name, a[i].Value, a[i].Pointer
}
