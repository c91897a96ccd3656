package compat

import (
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
)

// ParseAlgorithms reads a comma list of metric names and digits, and of names
// for which user holds. The word all alone, in any case, takes the ten in
// column order. A user's algorithm takes the place of a metric of its name.
// Doubles are dropped, names of nothing are returned as unknown. The error is a
// *[Error] when nothing is left or the text is empty.
func ParseAlgorithms(text string, user func(name string) bool) (columns []result.Column, unknown []string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, errorf(CodeParameter, "the list of algorithms is empty")
	}
	column := func(m metric.Metric) result.Column {
		if user != nil && user(m.String()) {
			return result.Column{Script: m.String()}
		}
		return result.Column{Metric: m}
	}
	if strings.EqualFold(text, "all") {
		for _, m := range metric.Default(metric.Reference) {
			columns = append(columns, column(m))
		}
		return columns, nil, nil
	}
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		c := result.Column{Script: name}
		if m, ok := metric.Parse(name); ok {
			c = column(m)
		} else if user == nil || !user(name) {
			unknown = append(unknown, name)
			continue
		}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		err = errorf(codeAlgorithm, "none of the algorithms %q is known", text)
	}
	return columns, unknown, err
}

// MetricsOf are the built-in metrics among columns.
func MetricsOf(columns []result.Column) (list []metric.Metric) {
	for _, c := range columns {
		if c.Script == "" {
			list = append(list, c.Metric)
		}
	}
	return list
}

// CheckAlgorithmOptions checks the form of "name:key=value,key=value;name2:…".
// Between and behind semicolons there may be nothing. The built-in metrics take no parameters; the parsed ones go to user scripts.
func CheckAlgorithmOptions(text string) map[string]map[string]string {
	options := map[string]map[string]string{}
	for _, part := range strings.Split(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, list, found := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		Refuse(!found || name == "" || list == "" || strings.Contains(list, ":"), CodeParameter, "algorithm options %q: found %q, expected name:key=value", text, part)
		if m, ok := metric.Parse(name); ok {
			name = m.String()
		}
		values := map[string]string{}
		for _, pair := range strings.Split(list, ",") {
			key, value, found := strings.Cut(pair, "=")
			Refuse(!found || strings.TrimSpace(key) == "" || strings.TrimSpace(value) == "", CodeParameter, "algorithm options %q: found %q, expected key=value", text, pair)
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
		options[name] = values
	}
	return options
}
