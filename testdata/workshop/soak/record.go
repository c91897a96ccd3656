package soak

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// Record writes the network as msprobe records it: dump.json with statistics,
// construct.json, stack.json and a file a tensor. It is the golden side or that of
// the device.
func (r *Random) Record(dir string, golden bool) error {
	return r.RecordTask(filepath.Join(dir, "step0", "rank0"), "tensor", golden)
}

// RecordTask writes the recording of a task into the folder of a process: tensor, statistics,
// or md5, which has checksums beside the statistics and no files either.
func (r *Random) RecordTask(dir, task string, golden bool) (err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(dir, 0o700))
	type object = map[string]any
	var calls []string
	parent, stack := object{}, object{}
	tensor := func(of int, name string) (object, error) {
		o := &r.ops[of]
		v := o.device
		if golden {
			v = o.golden
		}
		low, high, sum, squares := math.Inf(1), math.Inf(-1), 0.0, 0.0
		for _, x := range v {
			x := float64(x)
			low, high, sum, squares = min(low, x), max(high, x), sum+x, squares+x*x
		}
		entry := object{"type": "torch.Tensor", "dtype": "torch.float32", "shape": o.shape, "requires_grad": false}
		for key, x := range map[string]float64{"Max": high, "Min": low, "Mean": sum / float64(len(v)), "Norm": math.Sqrt(squares)} {
			entry[key] = x
			if math.IsNaN(x) || math.IsInf(x, 0) {
				entry[key] = nil
			}
		}
		if task == "md5" {
			entry["md5"] = fmt.Sprintf("%08x", crc32.ChecksumIEEE(dumptest.Floats(v)))
		}
		if task != "tensor" {
			return entry, nil
		}
		entry["data_name"] = name + ".npy"
		return entry, dumptest.WriteNpy(filepath.Join(dir, "dump_tensor_data", name+".npy"), "<f4", o.shape, dumptest.Floats(v))
	}
	for i := range r.ops {
		o := &r.ops[i]
		if o.kind == "Data" {
			continue // what is given is no call
		}
		library := "Functional"
		if len(o.inputs) > 1 { // torch.add and the like
			library = "Torch"
		}
		name := fmt.Sprintf("%s.%s.%d.forward", library, strings.ToLower(o.kind), i)
		args := []any{}
		for k, in := range o.inputs {
			entry := must.Get(tensor(in, fmt.Sprintf("%s.input.%d", name, k)))
			args = append(args, entry)
		}
		out := must.Get(tensor(i, name+".output.0"))
		text := must.Get(json.Marshal(object{"input_args": args, "input_kwargs": object{}, "output": []any{out}}))
		calls = append(calls, fmt.Sprintf("  %q: %s", name, text))
		parent[name] = "Module.net.Net.forward.0"
		stack[fmt.Sprint(i)] = []any{[]string{name}, []string{fmt.Sprintf("File net.py, line %d, in forward, \n x = f%d(x)", i, i)}}
	}
	text := fmt.Sprintf("{\n \"task\": %q,\n \"level\": \"L1\",\n \"framework\": \"pytorch\",\n \"dump_data_dir\": \"dump_tensor_data\",\n \"data\": {\n%s\n }\n}\n", task, strings.Join(calls, ",\n"))
	must.Do(os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600))
	for name, content := range map[string]object{"construct.json": parent, "stack.json": stack} {
		text, err := json.MarshalIndent(content, "", " ")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		must.Do(err)
	}
	return nil
}
