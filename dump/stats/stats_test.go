package stats

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// rows reads a table, lines that cannot be read as their errors.
func rows(t *testing.T, text string) (list []string) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "x.csv")
	if err != nil {
		return []string{err.Error()}
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			list = append(list, err.Error())
			continue
		}
		list = append(list, fmt.Sprintf("%s|%s|%s|%v %s|%s %v|%v|%s %s %s %s %s", row.OpType, row.OpName, row.Time, row.Output, row.Slot, row.Elem, row.Known, row.Shape, row.Max, row.Min, row.Mean, row.Norm, row.Sum))
	}
}

// TestTables: the forms of all writers.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"GE, as it is by default", "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,Positive Inf Count\n" +
			"Input,0,96,DT_FLOAT16,NCHW,1x3x4x4,1.99999,-2,0.5,48,0,0,0\n" +
			"Input,1,4,DT_INT64,ND,-,9223372036854775807,NA,NA,1,0,0,0\n" +
			"Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,Positive Inf Count\n" +
			"Output,0,96,DT_BF16,NCHW,1x3x4x4,1,-1,0,48,2,0,0\n" +
			"Output,1,96,DT_FLOAT,NCHW,1x3x4x4,1,-1,0,48,0,1,1",
			[]string{"|||false 0|float16 true|[1 3 4 4]|1.99999 -2 0.5  ", "|||false 1|int64 true|[]|9223372036854775807 None None  ",
				"|||true 0|bfloat16 true|[1 3 4 4]|nan nan 0  ", "|||true 1|float32 true|[1 3 4 4]|inf -inf 0  "}},
		{"GE, chosen", "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,l2norm\nOutput,0,8,UNKNOW,ND,NA,2,3,3.5\n",
			[]string{"|||true 0|int8 false|[]|3   3.5 "}},
		{"MindSpore", "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value,MD5\n" +
			"Add,Default_Add-op0,0,0,17,input,0,256,float32,\"(32,2)\",1,1,8,\n" +
			"Add,Default_Add-op0,0,0,17,output,0,256,bool,(),True,False,null,0123\n",
			[]string{"Add|Default_Add-op0|17|false 0|float32 true|[32 2]|1 1  8 ", "Add|Default_Add-op0|17|true 0|bool true|[]|True False  None 0123"}},
		{"ATB", "Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,Tensor Path\n" +
			"0_1,0,L/A,A,2_0,input,0,float,nd,2,1.0,-1.0,-nan,nan,N/A\n" +
			"0_1,0,L/A,A,2_0,input,1,complex64,nd,2,\"(1.0,2.0)\",\"(1.0,2.0)\",\"(1.0,2.0)\",3.0,N/A\n",
			[]string{"A|L/A||false 0|float32 true|[2]|nan nan nan nan ", "A|L/A||false 1|complex64 true|[2]|None None None 3.0 "}},
		{"lines that cannot be read", "IO,Slot,Data Type,Shape,Max Value\ninput,0,float32,2,1\nsideways,0,float32,2,1\ninput,x,float32,2,1\ninput,0,float32,2x-1,1\n" +
			"input,0,float32,2,one\ninput,0,float32\n" + strings.Repeat("x", maxLine+1) + "\noutput,0,float32,2,2\n",
			[]string{"|||false 0|float32 true|[2]|1    ", `x.csv: line 3: found "sideways", expected input or output`, `x.csv: line 4: found the index "x", expected a number`,
				`x.csv: line 5: found the shape "2x-1", expected numbers, as 2x3 or (2, 3)`, `x.csv: line 6: found "one", expected a number`,
				"x.csv: line 7: found 3 fields, expected at least 5", "x.csv: line 8: found more than 65536 bytes, expected a line of a table", "|||true 0|float32 true|[2]|2    "}},
		{"no table", "a,b,c\n1,2,3\n", []string{`x.csv: line 1: found the headings "a,b,c", expected those of inputs and outputs, index, type and shape`}},
		{"empty", "", []string{"x.csv: line 1: found an empty file, expected the headings of a table of statistics"}},
	} {
		if got := rows(t, c.text); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: found\n%s\nexpected\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("Input/Output,Index,Data Type,Shape,Max Value,Nan Count\nInput,0,DT_FLOAT16,1x3,1.99999,1\n"))
	f.Add([]byte("IO,Slot,Data Type,Shape,Max Value\ninput,0,float32,\"(32,2)\",1\ninput,0,bool,\"(32,2,True\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(strings.NewReader(string(b)), "x")
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if n > len(b) {
				t.Fatal("it does not end")
			}
			if err == nil {
				if again, err := r.Parse(row.Text); err != nil || again.Slot != row.Slot {
					t.Fatalf("read again: %v, %v", again, err)
				}
			}
		}
	})
}
