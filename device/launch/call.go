package launch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sagann/device"
)

// Args are the arguments of a kernel by the names of its parameters: a device.Mem or At for a pointer, a uint64 for a number.
// Memory of no bytes is the address 0.
type Args map[string]any

// At is an address in a GPU's memory, or in pinned memory of the host.
type At uint64

// With is a copy of a with further arguments, or others in place of those that it has.
func (a Args) With(more Args) Args {
	all := make(Args, len(a)+len(more))
	for _, list := range []Args{a, more} {
		for name, x := range list {
			all[name] = x
		}
	}
	return all
}

// Call is a launch of the kernel Name of a source, on Grid blocks of Block threads with so many bytes of shared memory.
// Parameters of kernels have eight bytes each.
type Call struct {
	Source, Name string
	Grid, Block  int
	Shared       int
	Args         Args
	Clear        []device.Mem // memory that is set to zero before the launch, whole words of it
}

// kernel is a compiled kernel with its parameters.
type kernel struct {
	function   device.Function
	parameters []parameter
}

// parameter is one of a kernel's, as its source declares it.
type parameter struct {
	name    string
	pointer bool
}

var (
	declared = regexp.MustCompile(`extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)`)
	named    = regexp.MustCompile(`[\w*][\s*]+(\w+)\s*$`) // behind a type
)

// parametersOf are the parameters of a kernel.
func parametersOf(source, name string) (list []parameter, err error) {
	for _, m := range declared.FindAllStringSubmatch(source, -1) {
		if m[1] != name {
			continue
		}
		for _, p := range strings.Split(m[2], ",") {
			n := named.FindStringSubmatch(p)
			if n == nil {
				return nil, fmt.Errorf("kernel %s: the parameter %q has no name", name, strings.TrimSpace(p))
			}
			list = append(list, parameter{n[1], strings.Contains(p, "*")})
		}
		return list, nil
	}
	return nil, fmt.Errorf("kernel %s: the source does not declare it", name)
}

// kernel is the kernel with a name, which is compiled unless it is already.
func (c *Card) kernel(source, name string) (*kernel, error) {
	if k := c.kernels[[2]string{source, name}]; k != nil {
		return k, nil
	}
	if err := c.Compile(source, name); err != nil {
		return nil, err
	}
	return c.kernels[[2]string{source, name}], nil
}

// Compile compiles the kernels of a source that are not compiled yet.
func (c *Card) Compile(source string, names ...string) error {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return c.kernels[[2]string{source, name}] != nil })
	if len(names) == 0 {
		return nil
	}
	functions, err := c.GPU.Compile(source, names)
	if err != nil {
		return err
	}
	if c.kernels == nil {
		c.kernels = map[[2]string]*kernel{}
	}
	for i, name := range names {
		list, err := parametersOf(source, name)
		if err != nil {
			return err
		}
		c.kernels[[2]string{source, name}] = &kernel{functions[i], list}
	}
	return nil
}

// words are the arguments in the order of the parameters. It is an error if a parameter has no argument, an argument no
// parameter, or one is a pointer and the other a number.
func (k *kernel) words(gpu device.GPU, args Args) (list []uint64, err error) {
	list = make([]uint64, len(k.parameters))
	for i, p := range k.parameters {
		switch x := args[p.name].(type) {
		case device.Mem:
			if !p.pointer {
				return nil, fmt.Errorf("%s is a number, and its argument memory", p.name)
			}
			if x.Len() > 0 {
				list[i], err = gpu.Address(x)
			}
		case At:
			if list[i] = uint64(x); !p.pointer {
				return nil, fmt.Errorf("%s is a number, and its argument an address", p.name)
			}
		case uint64:
			if list[i] = x; p.pointer {
				return nil, fmt.Errorf("%s is a pointer, and its argument a number", p.name)
			}
		case nil:
			return nil, fmt.Errorf("%s has no argument", p.name)
		default:
			return nil, fmt.Errorf("%s: an argument is a %T", p.name, x)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(args) > len(list) {
		for name := range args {
			if !slices.ContainsFunc(k.parameters, func(p parameter) bool { return p.name == name }) {
				return nil, fmt.Errorf("there is no parameter %s", name)
			}
		}
	}
	return list, nil
}

// Commands are launches as commands of package device. Kernels that are not compiled yet are.
func (c *Card) Commands(calls ...Call) (list []device.Command, err error) {
	for i := range calls {
		k := &calls[i]
		f, err := c.kernel(k.Source, k.Name)
		if err != nil {
			return nil, err
		}
		for _, m := range k.Clear {
			at, err := c.GPU.Address(m)
			if err != nil {
				return nil, err
			}
			list = append(list, device.Command{Clear: &device.Clear{Addr: at, Bytes: m.Len() &^ 3}})
		}
		args, err := f.words(c.GPU, k.Args)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		list = append(list, device.Command{Call: &device.Call{Func: f.function, Grid: [3]uint32{uint32(k.Grid), 1, 1}, Block: uint32(k.Block), Shared: uint32(k.Shared), Args: args}})
	}
	return list, nil
}

// Launch submits kernels, one after the other.
func (c *Card) Launch(calls ...Call) error {
	if len(calls) == 0 {
		return errors.New("launch: no kernels")
	}
	list, err := c.Commands(calls...)
	if err != nil {
		return err
	}
	return c.GPU.Launch(c.Queue, device.GPUCommands(calls[0].Name, list))
}
