package oracle

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/dumptest"
)

// textCases are the cases of testdata/cases.txt, which says what their syntax is.
func textCases(t testing.TB) (list []callCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c, err := textCase(line)
		if err != nil {
			t.Fatalf("testdata/cases.txt, case %d: %v", i+1, err)
		}
		list = append(list, c)
	}
	return list
}

func textCase(line string) (c callCase, err error) {
	name, rest, _ := strings.Cut(line, "(")
	args, results, ok := strings.Cut(rest, ") = ")
	if !ok {
		return c, fmt.Errorf("%q is no call with results", line)
	}
	c = callCase{Name: name, Kwargs: map[string]caseValue{}}
	for _, a := range commas(args) {
		key, value, named := strings.Cut(a, "=")
		if !named {
			value = a
		}
		v, err := textValue(strings.TrimSpace(value))
		if err != nil {
			return c, err
		}
		if named {
			c.Kwargs[key] = v
		} else {
			c.Args = append(c.Args, v)
		}
	}
	for _, r := range commas(results) {
		v, err := textValue(r)
		if err != nil {
			return c, err
		}
		c.Outputs = append(c.Outputs, v)
	}
	return c, nil
}

// commas are what commas separate that are in no brackets.
func commas(text string) (list []string) {
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			if p := strings.TrimSpace(text[from:i]); p != "" {
				list = append(list, p)
			}
			from = i + 1
		case strings.IndexByte("([{", text[i]) >= 0:
			depth++
		case strings.IndexByte(")]}", text[i]) >= 0:
			depth--
		}
	}
	return list
}

func textValue(text string) (v caseValue, err error) {
	leaf := func(typ, value string) caseValue {
		return caseValue{Leaf: []byte(`{"type":"` + typ + `","value":` + value + `}`)}
	}
	if head, numbers, ok := strings.Cut(strings.TrimSuffix(text, "}"), "{"); ok && text[0] != '[' {
		return textTensor(head, strings.Fields(numbers))
	}
	switch {
	case text == "None":
		return caseValue{None: true}, nil
	case text == "True", text == "False":
		return leaf("bool", strings.ToLower(text)), nil
	case text[0] == '"':
		return leaf("str", text), nil
	case text[0] == '[':
		list := []caseValue{}
		for _, p := range commas(strings.TrimSuffix(text[1:], "]")) {
			v, err := textValue(p)
			if err != nil {
				return v, err
			}
			list = append(list, v)
		}
		return caseValue{List: &list}, nil
	}
	if _, err := strconv.Atoi(text); err == nil {
		return leaf("int", text), nil
	}
	_, err = strconv.ParseFloat(text, 64)
	return leaf("float", text), err
}

func textTensor(head string, numbers []string) (v caseValue, err error) {
	name, dims, _ := strings.Cut(strings.TrimSuffix(head, "]"), "[")
	v.Tensor = &struct {
		DType string
		Shape []int64
		Hex   string
	}{DType: name, Shape: []int64{}}
	for _, d := range strings.FieldsFunc(dims, func(r rune) bool { return r == ',' }) {
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			return v, err
		}
		v.Tensor.Shape = append(v.Tensor.Shape, n)
	}
	typ, ok := dtype.FromFramework(name)
	if !ok || int64(len(numbers)) != count(v.Tensor.Shape) {
		return v, fmt.Errorf("%s%v with %d numbers", name, v.Tensor.Shape, len(numbers))
	}
	y := make([]float64, len(numbers))
	for i, s := range numbers {
		if y[i], err = strconv.ParseFloat(s, 64); err != nil {
			return v, err
		}
	}
	v.Tensor.Hex = hex.EncodeToString(encoded(typ, y))
	return v, nil
}

// encoded are numbers of a type, which they fit: bfloat16 cuts off what is beyond it.
func encoded(typ dtype.Type, y []float64) (raw []byte) {
	for _, x := range y {
		var b [8]byte
		switch {
		case typ == dtype.Float16:
			raw = append(raw, dumptest.Halves([]float32{float32(x)})...)
			continue
		case typ == dtype.BFloat16:
			binary.LittleEndian.PutUint16(b[:], uint16(math.Float32bits(float32(x))>>16))
		case typ == dtype.Float32:
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(x)))
		case typ == dtype.Float64:
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		default:
			binary.LittleEndian.PutUint64(b[:], uint64(int64(x)))
		}
		raw = append(raw, b[:typ.Bits()/8]...)
	}
	return raw
}
