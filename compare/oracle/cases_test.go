package oracle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// textCases are the cases of testdata/cases.txt, which says what their syntax is, and of functions.txt.
func textCases(t testing.TB) []callCase {
	return append(casesIn(t, "testdata/cases.txt"), casesIn(t, "testdata/functions.txt")...)
}

func casesIn(t testing.TB, file string) (list []callCase) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c, err := textCase(line)
		if err != nil {
			t.Fatalf("%s, case %d: %v", file, i+1, err)
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
	results, backward, _ := strings.Cut(results, " : ")
	gradients, back, _ := strings.Cut(backward, " = ")
	for list, text := range map[*[]caseValue]string{&c.Outputs: results, &c.Gradients: gradients, &c.Back: back} {
		for _, r := range commas(text) {
			v, err := textValue(r)
			if err != nil {
				return c, err
			}
			*list = append(*list, v)
		}
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
		case narrowFloat(typ):
			for code := range 256 {
				var v [1]float64
				if dtype.Widen64(typ, v[:], []byte{byte(code)}); v[0] == x {
					b[0] = byte(code)
					break
				}
			}
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

// savedNarrow is the file that torch.save makes of a tensor of eight bits: a storage without a type, and the type beside it.
func savedNarrow(typ string, shape []int64, raw []byte) []byte {
	var p, b bytes.Buffer
	number := func(n int64) {
		p.WriteByte('J')
		binary.Write(&p, binary.LittleEndian, int32(n))
	}
	text := func(s string) {
		p.WriteByte('X')
		binary.Write(&p, binary.LittleEndian, int32(len(s)))
		p.WriteString(s)
	}
	tuple := func(list []int64) {
		p.WriteByte('(')
		for _, n := range list {
			number(n)
		}
		p.WriteByte('t')
	}
	p.WriteString("\x80\x02ctorch._utils\n_rebuild_tensor_v3\n((")
	text("storage")
	p.WriteString("ctorch.storage\nUntypedStorage\n")
	text("0")
	text("cpu")
	number(int64(len(raw)))
	p.WriteString("tQ")
	number(0)
	tuple(shape)
	tuple(rowMajor(shape))
	p.WriteString("\x89ccollections\nOrderedDict\n)Rctorch\n" + typ + "\ntR.")
	z := zip.NewWriter(&b)
	for _, e := range []struct {
		name    string
		content []byte
	}{{"data.pkl", p.Bytes()}, {"byteorder", []byte("little")}, {"data/0", raw}, {"version", []byte("3\n")}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/" + e.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(e.content)
		}
		if err != nil {
			panic(err)
		}
	}
	z.Close()
	return b.Bytes()
}
