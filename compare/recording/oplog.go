package recording

import (
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/oplog"
)

// findLogs finds logs of operators, of DebugMode and torchtitan.
func findLogs(path string) ([]found, error) {
	list, err := listed(path, oplog.Find, func(l oplog.Log) found {
		f := found{step: -1, rank: l.Rank, bytes: fileSize(l.Path), load: func() (*side, error) { return loadLog(l.Path) }}
		if l.Rank < 0 {
			f.file = l.Path
		}
		return f
	})
	if len(list) == 1 {
		list[0].file = "" // there is nothing to tell it from
	}
	return list, err
}

// loadLog reads a log. Operators are functions; the modules that they ran in tell them apart.
func loadLog(path string) (*side, error) {
	calls, err := oplog.Read(path)
	s := &side{parent: map[string]string{}, summed: dtype.Float64, significant: oplog.Precision(calls)}
	if err != nil {
		if len(calls) == 0 {
			return nil, err
		}
		s.damage(result.RecordingCut, "", path, err)
	}
	add, count := s.adder(), map[string]int{}
	named := false
	for _, from := range calls {
		prefix, api, ok := strings.Cut(from.Name, "::")
		if !ok {
			prefix, api = "torch", strings.TrimPrefix(from.Name, "torch.")
		}
		c := &msprobe.Call{Parsed: msprobe.Name{Form: msprobe.API, Prefix: prefix, API: api, Direction: msprobe.Forward}}
		if from.Backward {
			c.Parsed.Direction = msprobe.Backward
		}
		c.Parsed.Number = count[from.Name]
		count[from.Name]++
		if c.Name = from.Key; c.Name == "" {
			c.Name = prefix + "." + api + "." + strconv.Itoa(c.Parsed.Number) + "." + c.Parsed.Direction.String()
		}
		for _, x := range from.Values {
			v := valueOf(&x)
			named = named || x.Known != 0 || x.Hash != ""
			c.Values = append(c.Values, v)
		}
		if from.Module != "" {
			s.parent[c.Name] = "Module." + from.Module + ".Module.forward.0"
		}
		add(c)
	}
	s.bare = !named && len(calls) > 0
	return s, nil
}

// valueOf is a value of a log as recordings have it.
func valueOf(x *oplog.Value) msprobe.Value {
	v := msprobe.Value{Section: msprobe.Input, Path: x.Path}
	switch {
	case x.Output:
		v.Section = msprobe.Output
	case x.Keyword != "":
		v = msprobe.Param(x.Keyword, x.Text)
		if v.Path = x.Keyword; x.Path != "" {
			v.Path += "." + x.Path
		}
	case !x.Tensor:
		v = msprobe.Param(x.Path, x.Text)
		v.Section = msprobe.Input
	}
	if !x.Tensor {
		return v
	}
	v.Kind, v.Type = msprobe.Tensor, "torch.Tensor"
	if x.Shape != nil {
		setType(&v, x.Type, x.Shape)
	}
	for _, stat := range []struct {
		bit  oplog.Stats
		from float64
		to   *msprobe.Number
	}{{oplog.Max, x.Max, &v.Max}, {oplog.Min, x.Min, &v.Min}, {oplog.Mean, x.Mean, &v.Mean}, {oplog.Norm, x.Norm, &v.Norm}} {
		if x.Known&stat.bit != 0 {
			*stat.to = msprobe.Number{Kind: msprobe.Float, F: stat.from}
		}
	}
	if x.Hash != "" {
		v.MD5 = msprobe.Number{Kind: msprobe.Text, S: x.Hash}
	}
	return v
}
