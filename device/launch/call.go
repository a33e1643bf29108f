package launch

import (
	"errors"
	"fmt"
	"slices"

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

// list are the arguments with the addresses of memory, those of parameters first and in their order.
func (a Args) list(gpu device.GPU, parameters Parameters) (list resolved, err error) {
	add := func(name string) error {
		x := argument{name: name, pointer: true}
		switch v := a[name].(type) {
		case device.Mem:
			if v.Len() > 0 {
				if x.value, err = gpu.Address(v); err != nil {
					return err
				}
			}
		case At:
			x.value = uint64(v)
		case uint64:
			x.value, x.pointer = v, false
		case nil:
			return nil // Words says so
		default:
			return fmt.Errorf("%s: an argument is a %T", name, v)
		}
		list = append(list, x)
		return nil
	}
	for _, p := range parameters {
		if err := add(p.name); err != nil {
			return nil, err
		}
	}
	if len(a) > len(list) {
		for name := range a {
			if !slices.ContainsFunc(parameters, func(p parameter) bool { return p.name == name }) {
				if err := add(name); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// argument is an argument with its address or number.
type argument struct {
	name    string
	value   uint64
	pointer bool
}

// resolved is a List.
type resolved []argument

func (r resolved) Len() int { return len(r) }

func (r resolved) Arg(i int) (name string, value uint64, pointer bool) {
	return r[i].name, r[i].value, r[i].pointer
}

// kernel is the kernel with a name, which is compiled unless it is already.
func (c *Card) kernel(source, name string) (*Kernel, error) {
	if err := c.Compile(source, name); err != nil {
		return nil, err
	}
	c.compiled.mu.Lock()
	defer c.compiled.mu.Unlock()
	return c.compiled.kernels[[2]string{source, name}], nil
}

// Compile compiles the kernels of a source that are not compiled yet.
func (c *Card) Compile(source string, names ...string) error {
	if c.compiled == nil {
		c.compiled = &compiled{}
	}
	k := c.compiled
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(names, func(name string) bool { return k.kernels[[2]string{source, name}] == nil }) {
		return nil
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return k.kernels[[2]string{source, name}] != nil })
	list, err := Compile(c.GPU, source, names)
	if err != nil {
		return err
	}
	if k.kernels == nil {
		k.kernels = map[[2]string]*Kernel{}
	}
	for i, name := range names {
		k.kernels[[2]string{source, name}] = list[i]
	}
	return nil
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
		args, err := k.Args.list(c.GPU, f.Parameters)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		words, err := f.Words(args)
		if err != nil {
			return nil, err
		}
		list = append(list, device.Command{Call: &device.Call{Func: f.Function, Grid: [3]uint32{uint32(k.Grid), 1, 1}, Block: uint32(k.Block), Shared: uint32(k.Shared), Args: words}})
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
