package compare

import (
	"slices"
	"strings"

	"precision/compare/metric"
)

// ParseAlgorithms reads a comma list of metric names and digits. The word all
// alone, in any case, takes the ten in column order. Doubles are dropped, names
// that are no metric are returned as unknown. The error is a *[CodeError] when
// nothing is left or the text is empty.
func ParseAlgorithms(text string) (metrics []metric.Metric, unknown []string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, codeErrorf(codeParameter, "the list of algorithms is empty")
	}
	if strings.EqualFold(text, "all") {
		for m := range metric.Metric(metric.Count) {
			metrics = append(metrics, m)
		}
		return metrics, nil, nil
	}
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		m, ok := metric.Parse(name)
		switch {
		case !ok:
			unknown = append(unknown, name)
		case !slices.Contains(metrics, m):
			metrics = append(metrics, m)
		}
	}
	if len(metrics) == 0 {
		err = codeErrorf(codeAlgorithm, "none of the algorithms %q is known", text)
	}
	return metrics, unknown, err
}

// CheckAlgorithmOptions checks the form of "name:key=value,key=value;name2:…".
// The built-in metrics take no parameters; the parsed ones go to user scripts.
func CheckAlgorithmOptions(text string) (map[string]map[string]string, error) {
	options := map[string]map[string]string{}
	if text == "" {
		return options, nil
	}
	for _, part := range strings.Split(text, ";") {
		name, list, found := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		if !found || name == "" || list == "" {
			return nil, codeErrorf(codeParameter, "algorithm options %q: found %q, expected name:key=value", text, part)
		}
		if m, ok := metric.Parse(name); ok {
			name = m.String()
		}
		values := map[string]string{}
		for _, pair := range strings.Split(list, ",") {
			key, value, found := strings.Cut(pair, "=")
			if !found || strings.TrimSpace(key) == "" || strings.TrimSpace(value) == "" {
				return nil, codeErrorf(codeParameter, "algorithm options %q: found %q, expected key=value", text, pair)
			}
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
		options[name] = values
	}
	return options, nil
}
