package launch

import (
	"fmt"
	"regexp"
	"strings"

	"sagann/device"
)

// Kernel is a compiled kernel with its parameters.
type Kernel struct {
	Function   device.Function
	Parameters Parameters
}

// Parameters are those of a kernel, in the order in which its source declares them.
type Parameters []parameter

type parameter struct {
	name    string
	pointer bool
}

// List has arguments by the names of parameters. A pointer is an address in a GPU's memory, or in pinned memory of the host.
type List interface {
	Len() int
	Arg(i int) (name string, value uint64, pointer bool)
}

var (
	declared = regexp.MustCompile(`extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)`)
	named    = regexp.MustCompile(`[\w*][\s*]+(\w+)\s*$`) // behind a type
)

// Compile compiles kernels of a source.
func Compile(gpu device.GPU, source string, names []string) ([]*Kernel, error) {
	functions, err := gpu.Compile(source, names)
	if err != nil {
		return nil, err
	}
	lists, err := ParametersOf(source, names)
	if err != nil {
		return nil, err
	}
	list := make([]*Kernel, len(names))
	for i := range names {
		list[i] = &Kernel{functions[i], lists[i]}
	}
	return list, nil
}

// ParametersOf are the parameters of kernels of a source.
func ParametersOf(source string, names []string) ([]Parameters, error) {
	texts := map[string]string{}
	for _, m := range declared.FindAllStringSubmatch(source, -1) {
		texts[m[1]] = m[2]
	}
	lists := make([]Parameters, len(names))
	for i, name := range names {
		text, ok := texts[name]
		if !ok {
			return nil, fmt.Errorf("kernel %s: the source does not declare it", name)
		}
		for _, p := range strings.Split(text, ",") {
			n := named.FindStringSubmatch(p)
			if n == nil {
				return nil, fmt.Errorf("kernel %s: the parameter %q has no name", name, strings.TrimSpace(p))
			}
			lists[i] = append(lists[i], parameter{n[1], strings.Contains(p, "*")})
		}
	}
	return lists, nil
}

// Words are arguments in the order of the kernel's parameters. The errors are those of Parameters.Words.
func (k *Kernel) Words(args List) ([]uint64, error) {
	words, err := k.Parameters.Words(args)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Function.Name(), err)
	}
	return words, nil
}

// Words are arguments in the order of the parameters. It is an error if a parameter has no argument, an argument no
// parameter, or one is a pointer and the other a number.
func (p Parameters) Words(args List) ([]uint64, error) {
	list, n := make([]uint64, len(p)), args.Len()
	next := 0 // where the argument of the next parameter is, if they are in its order
	for i, x := range p {
		var name string
		var pointer bool
		for k := 0; ; k++ {
			if k == n {
				return nil, fmt.Errorf("%s has no argument", x.name)
			}
			if next == n {
				next = 0
			}
			name, list[i], pointer = args.Arg(next)
			if next++; name == x.name {
				break
			}
		}
		switch {
		case pointer && !x.pointer:
			return nil, fmt.Errorf("%s is a number, and its argument an address", x.name)
		case !pointer && x.pointer:
			return nil, fmt.Errorf("%s is a pointer, and its argument a number", x.name)
		}
	}
	if n > len(p) {
		for k := range n {
			if name, _, _ := args.Arg(k); !p.has(name) {
				return nil, fmt.Errorf("there is no parameter %s", name)
			}
		}
		return nil, fmt.Errorf("an argument is there twice")
	}
	return list, nil
}

func (p Parameters) has(name string) bool {
	for _, x := range p {
		if x.name == name {
			return true
		}
	}
	return false
}
