package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/dump/npy"
	"precision/testdata/workshop/dumptest"
	"precision/testdata/workshop/recorded"
)

var update = flag.Bool("update", false, "write what the program does into testdata/dropin")

// TestDropin runs command lines on small inputs and compares what comes of them
// with what the files in testdata/dropin say. A file is a list of cases, which
// begin with a line "# " and have a folder of their own; a case is a list of
// blocks: a command, its lines, a line "----" and, for run, what came of it up to
// an empty line. The commands:
//
//	dump PATH [CUT]   a device dump, without its last CUT bytes: lines "in|out TYPE FORMAT SHAPE [of ORIGIN] [groups…] [= VALUES]"
//	npy PATH DESCR SHAPE [= VALUES]   an array; values are 1, 2, 3 … where none are given
//	file PATH    the lines as they are; hex PATH: the bytes in hexadecimal digits
//	graph PATH   the JSON of a graph: lines "NAME TYPE LAYOUT SHAPE"
//	folder PATH  an empty folder
//	run [log] [COLUMN,…]   the command line in the next line. It shows the exit code, the files written,
//	             of tables the columns named, of texts all lines, of arrays type and shape, and with log
//	             the warnings and errors
//
// A shape is 2,3; a scalar is "-".
func TestDropin(t *testing.T) {
	files, err := filepath.Glob("testdata/dropin/*.txt")
	if err != nil || files == nil {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		full, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			got := dropin(t, string(text))
			if *update {
				if err := os.WriteFile(full, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
			for i := range max(len(want), len(have)) {
				var a, b string
				if i < len(want) {
					a = want[i]
				}
				if i < len(have) {
					b = have[i]
				}
				if a != b {
					t.Fatalf("line %d: got  %q\nwant %q\nall of it:\n%s", i+1, b, a, got)
				}
			}
		})
	}
}

// dropin runs the cases of a file and returns the file with what came of them.
func dropin(t *testing.T, text string) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		line := strings.TrimSpace(lines[i])
		out.WriteString(lines[i])
		i++
		if strings.HasPrefix(line, "# ") {
			dir := t.TempDir()
			t.Chdir(dir)
			continue
		}
		command := strings.Fields(line)
		if len(command) == 0 {
			continue
		}
		switch command[0] {
		case "npy", "folder":
			make1(t, command, nil)
			continue
		}
		var body []string
		for i < len(lines) && strings.TrimSpace(lines[i]) != "----" {
			out.WriteString(lines[i])
			body = append(body, strings.TrimRight(lines[i], "\n"))
			i++
		}
		out.WriteString("----\n")
		i++
		if command[0] != "run" {
			make1(t, command, body)
			continue
		}
		for i < len(lines) && strings.TrimSpace(lines[i]) != "" {
			i++
		}
		out.WriteString(runLine(t, command[1:], strings.Join(body, " ")))
	}
	return out.String()
}

// make1 makes the input that a command describes.
func make1(t *testing.T, command, body []string) {
	t.Helper()
	var err error
	path := command[1]
	if command[0] != "folder" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	switch command[0] {
	case "dump":
		var d dumptest.Dump
		for _, line := range body {
			f := strings.Fields(line)
			tensor := tensorOf(t, f[1:])
			if f[0] == "in" {
				d.Inputs = append(d.Inputs, tensor)
			} else {
				d.Outputs = append(d.Outputs, tensor)
			}
		}
		err = d.Write(path)
		if len(command) > 2 {
			cut, _ := strconv.Atoi(command[2])
			err = os.Truncate(path, int64(len(d.Bytes())-cut))
		}
	case "npy":
		shape, values := dimsOf(t, command[3]), valuesOf(t, command[4:])
		err = dumptest.WriteNpy(path, command[2], shape, encode(t, descrTypes[strings.TrimLeft(command[2], "<>|")], shape, values, command[2][0] == '>'))
	case "file":
		err = os.WriteFile(path, []byte(strings.Join(body, "\n")), 0o644)
	case "hex":
		var data []byte
		if data, err = hex.DecodeString(strings.Join(strings.Fields(strings.Join(body, "")), "")); err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
	case "graph":
		err = os.WriteFile(path, []byte(graphOf(t, body)), 0o644)
	case "folder":
		err = os.MkdirAll(path, 0o755)
	default:
		t.Fatalf("no command %q", command[0])
	}
	if err != nil {
		t.Fatal(err)
	}
}

var (
	typeNumbers = map[string]int{"undefined": 0, "float32": 1, "float16": 2, "int8": 3, "uint8": 4, "int32": 7, "float64": 12, "complex64": 16,
		"qint8": 18, "int4": 28, "complex32": 32, "float8_e8m0": 36}
	descrTypes = map[string]string{"f4": "float32", "f2": "float16", "i1": "int8", "u1": "uint8", "i4": "int32", "f8": "float64", "c8": "complex64", "U1": "int32"}
	formats    = map[string]int{"NCHW": dumptest.NCHW, "NHWC": dumptest.NHWC, "ND": dumptest.ND, "NC1HWC0": dumptest.NC1HWC0,
		"FRACTAL_Z": dumptest.FractalZ, "HWCN": dumptest.HWCN, "FRACTAL_NZ": dumptest.FractalNZ}
)

func tensorOf(t *testing.T, f []string) dumptest.Tensor {
	t.Helper()
	number, known := typeNumbers[f[0]]
	format, laid := formats[f[1]]
	if !known || !laid {
		t.Fatalf("no type or format: %q", f)
	}
	tensor := dumptest.Tensor{Type: number, Format: format, Shape: dimsOf(t, f[2]), Address: 4096}
	if f = f[3:]; len(f) > 1 && f[0] == "of" {
		tensor.Origin, f = dimsOf(t, f[1]), f[2:]
	}
	for name, n := range typeNumbers {
		if n == number {
			tensor.Data = encode(t, name, tensor.Shape, valuesOf(t, f), false)
		}
	}
	return tensor
}

func dimsOf(t *testing.T, text string) []int64 {
	t.Helper()
	shape := []int64{}
	if text == "-" {
		return shape
	}
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		shape = append(shape, n)
	}
	return shape
}

// valuesOf reads what stands behind "="; a single "=" means none at all.
func valuesOf(t *testing.T, f []string) []float64 {
	t.Helper()
	if len(f) == 0 {
		return nil
	}
	values := []float64{}
	for _, s := range f[1:] {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func encode(t *testing.T, typ string, shape []int64, values []float64, big bool) []byte {
	t.Helper()
	n := 1
	for _, d := range shape {
		n *= int(d)
	}
	if typ == "complex64" {
		n *= 2
	}
	if values == nil {
		for i := range n {
			values = append(values, float64(i+1))
		}
	}
	order := binary.AppendByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	var out []byte
	for _, v := range values {
		switch typ {
		case "float16":
			out = append(out, dumptest.Halves([]float32{float32(v)})...)
		case "float32", "complex64":
			out = order.AppendUint32(out, math.Float32bits(float32(v)))
		case "float64":
			out = order.AppendUint64(out, math.Float64bits(v))
		case "int32", "complex32":
			out = order.AppendUint32(out, uint32(int32(v)))
		default: // a byte an element, also of types smaller than that
			out = append(out, byte(int(v)))
		}
	}
	return out
}

// graphOf is the JSON of a graph whose operators have one output each.
func graphOf(t *testing.T, lines []string) string {
	t.Helper()
	var ops []string
	for i, line := range lines {
		f := strings.Fields(line)
		shape := ""
		if f[3] != "-" {
			shape = f[3]
		}
		ops = append(ops, fmt.Sprintf(`{"name":%q,"type":%q,"id":%d,"attr":[{"key":"_datadump_original_op_names","value":{"list":{"s":[%q],"val_type":1}}}],`+
			`"output_desc":[{"shape":{"dim":[%s]},"layout":%q,"attr":[{"key":"_datadump_origin_name","value":{"s":%q}},`+
			`{"key":"_datadump_origin_output_index","value":{"i":0}},{"key":"_datadump_origin_format","value":{"s":%q}}]}]}`,
			f[0], f[1], i, f[0], shape, f[2], f[0], f[2]))
	}
	return `{"name":"m","graph":[{"name":"net","op":[` + strings.Join(ops, ",\n") + "]}]}"
}

var (
	fileTime = regexp.MustCompile(`_\d{14}(_\d+)?\.`)
	logTime  = regexp.MustCompile(`^\S+ \S+ \(\d+\) - `)
)

// runLine runs a command line in the current folder and says what came of it.
func runLine(t *testing.T, how []string, line string) string {
	t.Helper()
	log := slices.Contains(how, "log")
	how = slices.DeleteFunc(slices.Clone(how), func(s string) bool { return s == "log" })
	var args []string
	for _, a := range strings.Fields(line) {
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(a, "''", ""), "'", ""))
	}
	before, err := recorded.Tree(".")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr, out bytes.Buffer
	fmt.Fprintf(&out, "exit %d\n", run(context.Background(), &stdout, &stderr, args))
	after, err := recorded.Tree(".")
	if err != nil {
		t.Fatal(err)
	}
	if log {
		dir, _ := os.Getwd()
		for l := range strings.Lines(stderr.String()) {
			if l = logTime.ReplaceAllString(l, ""); strings.HasPrefix(l, "[ERROR]") || strings.HasPrefix(l, "[WARNING]") {
				out.WriteString(strings.ReplaceAll(l, dir+string(filepath.Separator), ""))
			}
		}
	}
	var names []string
	for name, data := range after {
		if old, was := before[name]; !was || old != data {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out.WriteString(fileTime.ReplaceAllString(name, "_TIME$1.") + describeFile(t, name, []byte(after[name]), how) + "\n")
	}
	return out.String()
}

// describeFile is what a file holds: of a table the columns, of an array its type and
// shape.
func describeFile(t *testing.T, name string, data []byte, columns []string) string {
	t.Helper()
	switch filepath.Ext(name) {
	case ".npy":
		h, err := npy.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return " " + err.Error()
		}
		return fmt.Sprintf(": %s %v %x", h.Type, h.Shape, data[h.Offset:min(int64(len(data)), h.Offset+16)])
	case ".csv", ".txt":
		if filepath.Ext(name) == ".csv" && strings.HasPrefix(string(data), "Index,") && len(columns) > 0 {
			return tableOf(t, data, strings.Split(columns[0], ","))
		}
		return "\n  " + strings.ReplaceAll(strings.TrimRight(string(data), "\r\n"), "\n", "\n  ")
	}
	return ""
}

func tableOf(t *testing.T, data []byte, columns []string) string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, r := range rows[1:] {
		var cells []string
		for _, c := range columns {
			if c == "header" {
				continue
			}
			if i := slices.Index(rows[0], c); i >= 0 {
				cells = append(cells, strings.TrimSpace(r[i]))
			}
		}
		out.WriteString("\n  " + strings.Join(cells, " | "))
	}
	if slices.Contains(columns, "header") {
		return "\n  " + strings.Join(rows[0], ",") + out.String()
	}
	return out.String()
}
