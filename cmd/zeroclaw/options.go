package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// option is one option of a service.
type option struct {
	ID          string            `json:"id"`
	Type        string            `json:"type"`
	Label       map[string]string `json:"label"`
	Description map[string]string `json:"description"`
	Value       any               `json:"value"`
	Default     any               `json:"default"`
	Choices     []string          `json:"choices"`
}

// newOptions is zeroclaw services options.
func newOptions(e environment) *cobra.Command {
	var asJSON, autostart bool
	var reset []string
	c := &cobra.Command{
		Use: "options NAME [ID=VALUE …]", Short: "Print or set the options of a service",
		Long: strings.TrimSpace(`
Without ID=VALUE this lists the options. What is set counts from the next start of
the service on. --reset takes an option's default again.`),
		Example: "  zeroclaw services options playwright headless=true --autostart",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: e.complete(aService.known),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			st, err := c.one(cmd.Context(), aService, args[0])
			if err != nil {
				return err
			}
			values, err := optionValues(st, args[1:], reset)
			if err != nil {
				return err
			}
			change := map[string]any{"options": values}
			if cmd.Flags().Changed("autostart") {
				change["autostart"] = autostart
			}
			if len(values) > 0 || len(change) > 1 {
				if st, err = c.setOptions(cmd.Context(), st.ID, change); err != nil {
					return err
				}
			}
			if asJSON {
				return e.printOptionsJSON(st)
			}
			e.printOptions(st)
			return nil
		},
	}
	c.Flags().BoolVar(&autostart, "autostart", false, "start the service with the companion; --autostart=false takes it back")
	c.Flags().StringArrayVar(&reset, "reset", nil, "take an option's default again; may be given several times")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (c client) setOptions(ctx context.Context, name string, change map[string]any) (status, error) {
	var st status
	return st, c.ask(ctx, "set the options of "+oneLine(name), "PUT", aService.at(name)+"/options", change, &st)
}

// optionValues reads ID=VALUE by the type of the option. The companion checks
// the values.
func optionValues(st status, given, reset []string) (map[string]any, error) {
	out := map[string]any{}
	find := func(id string) (option, error) {
		i := slices.IndexFunc(st.Options, func(o option) bool { return o.ID == id })
		if i >= 0 {
			return st.Options[i], nil
		}
		f := failure{err: fmt.Errorf("set the option %s: %s has no such option", oneLine(id), oneLine(st.ID)), hint: "it has no options", code: exitUsage}
		var ids []string
		for _, o := range st.Options {
			ids = append(ids, oneLine(o.ID))
		}
		if len(ids) > 0 {
			f.hint = "there is: " + strings.Join(ids, ", ")
		}
		return option{}, f
	}
	for _, text := range given {
		id, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, failure{err: fmt.Errorf("set the option %s: there is no value", oneLine(id)), hint: "write it as ID=VALUE", code: exitUsage}
		}
		o, err := find(id)
		if err != nil {
			return nil, err
		}
		out[id] = value
		if o.Type == "boolean" {
			on, err := strconv.ParseBool(value)
			if err != nil {
				return nil, failure{err: fmt.Errorf("set the option %s: %q is neither true nor false", oneLine(id), value), hint: "write it as " + oneLine(id) + "=true or =false", code: exitUsage}
			}
			out[id] = on
		}
	}
	for _, id := range reset {
		if _, err := find(id); err != nil {
			return nil, err
		}
		out[id] = nil
	}
	return out, nil
}

func (e environment) printOptions(s status) {
	fmt.Fprintf(e.stdout, "%s  autostart %s%s\n", oneLine(s.ID), onOff(s.Autostart), map[bool]string{true: "  restart needed"}[s.RestartNeeded])
	if len(s.Options) == 0 {
		fmt.Fprintln(e.stdout, "It has no options.")
		return
	}
	t := table{head: []string{"ID", "VALUE", "TYPE", "ABOUT"}}
	for _, o := range s.Options {
		about := english(o.Label)
		if d := english(o.Description); d != "" {
			about += ": " + d
		}
		kind := o.Type
		if len(o.Choices) > 0 {
			kind = strings.Join(o.Choices, "|")
		}
		value := fmt.Sprint(o.Value)
		if value == "" {
			value = `""`
		}
		t.add(oneLine(o.ID), oneLine(value), oneLine(kind), words(about))
	}
	t.write(e.stdout, e.screen())
}

func (e environment) printOptionsJSON(s status) error {
	raw, err := json.Marshal(map[string]any{"options": append([]option{}, s.Options...), "autostart": s.Autostart, "restart_needed": s.RestartNeeded})
	if err != nil {
		return failure{err: fmt.Errorf("print the options: %w", err)}
	}
	return e.printJSON(raw)
}
