package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/saga"
	"sagann/sample"
)

// samples are the values of a flag that may be given several times, such as --sample: fan-outs for all relations, and for some by name.
type samples []string

// Decode adds a value of the flag, or the list of a file of settings.
func (s *samples) Decode(ctx *kong.DecodeContext) error {
	if list, ok := ctx.Scan.Peek().Value.([]any); ok {
		ctx.Scan.Pop()
		for _, x := range list {
			*s = append(*s, fmt.Sprint(x))
		}
		return nil
	}
	var text string
	err := ctx.Scan.PopValueInto("value", &text)
	*s = append(*s, text)
	return err
}

// MarshalJSON writes a text, or a list if there are several.
func (s samples) MarshalJSON() ([]byte, error) {
	if len(s) < 2 {
		return json.Marshal(strings.Join(s, ""))
	}
	return json.Marshal([]string(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *samples) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) != nil {
		return json.Unmarshal(text, (*[]string)(s))
	}
	if *s = nil; one != "" {
		*s = samples{one}
	}
	return nil
}

// forAll are the values without a name.
func (s samples) forAll() (list []string) {
	for _, text := range s {
		if !strings.Contains(text, "=") {
			list = append(list, text)
		}
	}
	return list
}

// into sets the samplers that s names. x has that of --sampler, if there is one.
func (s samples) into(x *saga.Sampling) error {
	if list := s.forAll(); len(list) > 1 {
		return fmt.Errorf("--sample %s and --sample %s: one is for all relations; others name theirs, as --sample writes=5,5", list[0], list[1])
	}
	for _, text := range s {
		at := strings.LastIndexByte(text, '=')
		if at < 0 {
			least := 1
			if len(s) > 1 {
				least = 0
			}
			list, err := fanoutsFrom(least, "--sample", text)
			if err != nil {
				return err
			}
			x.Sampler = sample.Neighbours(list...)
			continue
		}
		name := text[:at]
		d, err := ofRelation(text[at+1:])
		if err != nil {
			return fmt.Errorf("--sample %s: %w", text, err)
		}
		if x.Relations == nil {
			x.Relations = map[string]sample.Sampler{}
		}
		if _, twice := x.Relations[name]; twice {
			return fmt.Errorf("--sample names relation %q twice", name)
		}
		x.Relations[name] = d
	}
	return nil
}

// ofRelation is the sampler of one relation: fan-outs, which may be 0, alone or behind the name of a sampler of neighbours, or another sampler.
func ofRelation(text string) (sample.Sampler, error) {
	make, list := sample.Neighbours, text
	if name, rest, named := strings.Cut(text, ":"); named {
		of := map[string]func(...int) sample.Sampler{"neighbours": sample.Neighbours, "neighbors": sample.Neighbours, "weighted": sample.WeightedNeighbours}[name]
		if of == nil {
			spec, err := sample.Parse(text, 1)
			return spec.Sampler, err
		}
		make, list = of, rest
	}
	n, err := fanoutsFrom(0, "fan-outs", list)
	return make(n...), err
}
