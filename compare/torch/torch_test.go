package torch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/dump/npy"
)

var few = []metric.Metric{metric.CosineSimilarity, metric.MaxAbsoluteError}

func data(name string) string { return filepath.Join("testdata", name) }

// pairs compares two files.
func pairs(ctx context.Context, left, right string, opt engine.Options) (*Files, *result.Table, error) {
	f, err := Open(left, right)
	if err != nil {
		return nil, nil, err
	}
	out, err := engine.Run(ctx, f, opt)
	return f, out.Table, err
}

func table(t *testing.T, left, right string, opt engine.Options) (*result.Table, string) {
	t.Helper()
	f, tab, err := pairs(context.Background(), data(left), data(right), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	opt.EnsureDefaults()
	var b bytes.Buffer
	if err := report.WriteRows(&b, Columns(&opt), tab.Rows, nil); err != nil {
		t.Fatal(err)
	}
	return tab, b.String()
}

// The rows were worked out by hand from testdata/make.py.
var fullRows = []string{
	`Index,NPUDump,NPUDumpPath,GroundTruthPath,DataType,Shape,CosineSimilarity,MaxAbsoluteError,CompareFailReason`,
	`3,Add,/Add/3/input/other,NaN,NaN,NaN,NaN,NaN,No data match with /Add/3/input/other in golden dump data.`,
	`3,Add,/Add/3/input/self,/Add/4/input/self,float32,[4],0.993999,1.000000,`,
	`3,Add,/Add/3/output/out,/Add/4/output/out,float32,[4],1.000000,0.000000,`,
	`3,Add,NaN,/Add/4/output/more,NaN,NaN,NaN,NaN,No data match with /Add/4/output/more in my dump data.`,
	`5,NpuConvolutionBackward,/NpuConvolutionBackward/5/input/grads/weight,/ThnnConvDepthwise2DBackward/40/input/grads/weight,float32,[2],1.000000,0.000000,`,
	`5,NpuConvolutionBackward,/NpuConvolutionBackward/5/input/self,/ThnnConvDepthwise2DBackward/40/input/input,float32,[2],0.989949,1.000000,`,
	`6,NpuConvolutionBackward,/NpuConvolutionBackward/6/input/self,/CudnnConvolutionBackward/50/input/input,float32,[2],1.000000,0.000000,`,
	`7,NativeBatchNormBackward,/NativeBatchNormBackward/7/input/epsilon,/CudnnBatchNormBackward/7/input/eps,float32,[1],1.000000,2.000000,This tensor is scalar.`,
	`8,NpuDropout,/NpuDropout/8/output/out,/CudnnDropout/8/output/out,float32,[2],1.000000,0.000000,`,
	`9,Cast,/Cast/9/output/bad,/Cast/9/output/bad,NaN,NaN,NaN,NaN,[Cast] The data types differ: Int of /Cast/9/output/bad and Float of /Cast/9/output/bad.`,
	`9,Cast,/Cast/9/output/bare,/Cast/9/output/bare,NaN,NaN,NaN,NaN,"[Cast] There is no attribute DataType on my side, /Cast/9/output/bare."`,
	`9,Cast,/Cast/9/output/flags,/Cast/9/output/flags,bool,[3],0.816497,1.000000,`,
	`9,Cast,/Cast/9/output/half,/Cast/9/output/half,float16,[3],0.990359,1.000000,`,
	`9,Cast,/Cast/9/output/int,/Cast/9/output/int,int32,[3],0.975900,2.000000,`,
	`10,Transpose,/Transpose/10/output/far,/Transpose/10/output/far,float32,"[2,3]",1.000000,0.000000,`,
	`10,Transpose,/Transpose/10/output/large,/Transpose/10/output/large,float32,"[130,70]",1.000000,0.000000,`,
	`10,Transpose,/Transpose/10/output/out,/Transpose/10/output/out,float32,"[2,3]",1.000000,0.000000,`,
	`11,Expand,/Expand/11/output/out,/Expand/11/output/out,float32,[3],1.000000,0.000000,`,
	`12,Add,/Add/12/output/out,/Add/20/output/out,float32,[2],0.948683,1.000000,`,
	`13,Sum,/Sum/13/output/count,/Sum/13/output/count,NaN,NaN,NaN,NaN,"[Sum] Due to the different shapes on the left and right,the left dump data(3) can not be compared to the right dump data(2). Check that both sides were recorded with the same batch."`,
	`13,Sum,/Sum/13/output/scalar,/Sum/13/output/scalar,float32,[],1.000000,2.000000,This tensor is scalar.`,
	`14,Lost,NaN,NaN,NaN,NaN,NaN,NaN,No data match with op:Lost in golden dump data.`,
	`16," =cmd","/=cmd/16/output/x,y","/=cmd/16/output/x,y",float32,[1],1.000000,0.000000,This tensor is scalar.`,
	`100,Add,/Add/100/output/out,/Add/30/output/out,float32,[2],1.000000,0.000000,`,
	`101,NaN,NaN,/Only/2/output/z,NaN,NaN,NaN,NaN,No data match with /Only/2/output/z in my dump data.`,
	`101,NaN,NaN,/ThnnDropout/8/output/out,NaN,NaN,NaN,NaN,No data match with /ThnnDropout/8/output/out in my dump data.`,
	``,
}

func check(t *testing.T, got string, want []string) {
	t.Helper()
	rows := strings.Split(got, "\r\n")
	for i := range max(len(rows), len(want)) {
		var g, w string
		if i < len(rows) {
			g = rows[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d is\n%s\nwant\n%s", i, g, w)
		}
	}
}

func TestFull(t *testing.T) {
	for _, workers := range []int{1, 7} {
		done := 0
		tab, got := table(t, "full_npu.h5", "full_gpu.h5", engine.Options{Numerics: metric.Reference, Metrics: few, Workers: workers,
			Progress: func(n, total int) { done = total - n }})
		check(t, got, fullRows)
		if done != 0 || tab.Compared() == 0 || len(tab.Meta.Warnings) != 0 {
			t.Errorf("%d pairs not reported, %d rows compared, warnings %v", done, tab.Compared(), tab.Meta.Warnings)
		}
	}
}

// Tensors too large for memory are read piece by piece, to the same digits.
func TestStreaming(t *testing.T) {
	defer func(n int64) { wholeBytes = n }(wholeBytes)
	wholeBytes = 0
	_, got := table(t, "full_npu.h5", "full_gpu.h5", engine.Options{Numerics: metric.Reference, Metrics: few})
	check(t, got, fullRows)
}

// Of a CPU the operators of the NPU go by other names.
func TestCPU(t *testing.T) {
	want := slices.Clone(fullRows)
	i := slices.IndexFunc(want, func(s string) bool { return strings.HasPrefix(s, "8,") })
	want[i] = `8,NpuDropout,/NpuDropout/8/output/out,/ThnnDropout/8/output/out,float32,[2],0.955779,4.000000,`
	i = slices.IndexFunc(want, func(s string) bool { return strings.HasPrefix(s, "101,NaN,NaN,/Only") })
	want[i], want[i+1] = `101,NaN,NaN,/CudnnDropout/8/output/out,NaN,NaN,NaN,NaN,No data match with /CudnnDropout/8/output/out in my dump data.`, want[i]
	_, got := table(t, "full_npu.h5", "full_cpu.h5", engine.Options{Numerics: metric.Reference, Metrics: few})
	check(t, got, want)
}

func TestLoad(t *testing.T) {
	_, got := table(t, "load_npu.h5", "load_gpu.h5", engine.Options{Numerics: metric.Reference, Metrics: few})
	check(t, got, []string{
		fullRows[0],
		`3,Add,/Add/3/output/out,/Add/3/output/out,float32,[2],1.000000,0.000000,`,
		`5,Add,/Add/5/output/out,/Add/5/output/out,float32,[2],0.983870,2.000000,`,
		`6,Mul,NaN,NaN,NaN,NaN,NaN,NaN,No data match with op:Mul in golden dump data.`,
		`8,NpuDropout,/NpuDropout/8/output/out,/CudnnDropout/8/output/out,float32,[2],1.000000,0.000000,`,
		`9,NaN,NaN,/Mul/7/output/out,NaN,NaN,NaN,NaN,No data match with /Mul/7/output/out in my dump data.`,
		``,
	})
}

// Between two NPUs strides are not followed: both files were written alike.
func TestSameFile(t *testing.T) {
	tab, _ := table(t, "full_npu.h5", "full_npu.h5", engine.Options{Numerics: metric.Exact})
	for _, r := range tab.Rows {
		bare := r.Left.File == "/Cast/9/output/bare"
		if r.Compared == bare || (r.Compared && r.Result().Values[metric.MaxAbsoluteError].Float() != 0) {
			t.Errorf("%s: %+v", r.Left.File, r)
		}
	}
	if len(tab.Rows) != 24 {
		t.Errorf("%d rows", len(tab.Rows))
	}
}

func TestMaxElements(t *testing.T) {
	tab, _ := table(t, "full_npu.h5", "full_gpu.h5", engine.Options{Numerics: metric.Reference, MaxElements: 3})
	for _, r := range tab.Rows {
		if r.Compared && r.Result().N > 3 {
			t.Errorf("%s: %d elements", r.Left.File, r.Result().N)
		}
		if r.Left.File == "/Add/3/input/self" && r.Result().Values[metric.MaxAbsoluteError].Float() != 0 {
			t.Errorf("%s: the fourth element was compared", r.Left.File)
		}
	}
}

func TestErrors(t *testing.T) {
	notHDF5 := filepath.Join(t.TempDir(), "x.h5")
	if err := os.WriteFile(notHDF5, []byte("no HDF5 at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	npu, gpu := data("full_npu.h5"), data("full_gpu.h5")
	for _, c := range []struct {
		mine, golden string
		opt          engine.Options
		fault        engine.Fault
		text         string
	}{
		{data("absent.h5"), gpu, engine.Options{Numerics: metric.Reference}, engine.FaultPath, "absent.h5"},
		{npu, t.TempDir(), engine.Options{Numerics: metric.Reference}, engine.FaultPath, "expected a file"},
		{notHDF5, gpu, engine.Options{Numerics: metric.Reference}, engine.FaultParse, notHDF5},
		{npu, notHDF5, engine.Options{Numerics: metric.Reference}, engine.FaultParse, notHDF5},
		{gpu, npu, engine.Options{Numerics: metric.Reference}, engine.FaultBadDump, "GPU (1), expected NPU (10)"},
		{data("empty.h5"), gpu, engine.Options{Numerics: metric.Reference}, engine.FaultBadDump, "no tensors"},
		{data("misnamed.h5"), gpu, engine.Options{Numerics: metric.Reference}, engine.FaultNames, "none of 3 datasets"},
		{npu, data("misnamed.h5"), engine.Options{Numerics: metric.Reference}, engine.FaultNames, "none of 3 datasets"},
		{npu, gpu, engine.Options{Numerics: metric.Reference, MaxElements: -1}, engine.FaultOption, "-1"},
		{npu, gpu, engine.Options{Numerics: metric.Reference, Workers: -1}, engine.FaultOption, "-1"},
		{npu, gpu, engine.Options{Numerics: metric.Reference, Metrics: []metric.Metric{1, 1}}, engine.FaultOption, "twice"},
		{npu, gpu, engine.Options{Numerics: metric.Reference, Metrics: []metric.Metric{metric.Metric(metric.Count)}}, engine.FaultOption, "no metric number"},
	} {
		_, _, err := pairs(context.Background(), c.mine, c.golden, c.opt)
		var fault *engine.Error
		if !errors.As(err, &fault) || fault.Fault != c.fault || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s, %s, %+v: %v, want fault %d", c.mine, c.golden, c.opt, err, c.fault)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := pairs(ctx, npu, gpu, engine.Options{Numerics: metric.Reference}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	opt := engine.Options{Numerics: metric.Reference, Metrics: few}
	tab, all := table(t, "full_npu.h5", "full_gpu.h5", opt)
	files, err := Open(data("full_npu.h5"), data("full_gpu.h5"))
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	path := filepath.Join(dir, "result_20240102030405.csv")
	if err := report.WriteFile(path, Columns(&opt), tab.Rows, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != all {
		t.Errorf("the file holds\n%s", got)
	}
	folder := filepath.Join(dir, "result_20240102030405_filtered")
	if err := report.WriteFile(filepath.Join(folder, "filtered_result.csv"), Columns(&opt), tab.Rows, Suspicious); err != nil {
		t.Fatal(err)
	}
	warnings, err := files.WriteTensors(context.Background(), tab, folder)
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	var want []string
	for i, row := range fullRows {
		if i == 0 || row == "" || strings.Contains(row, "NaN,No data") || strings.Contains(row, "NaN,NaN,\"[") ||
			strings.Contains(row, "NaN,NaN,[") || strings.HasPrefix(row, "12,Add") || strings.Contains(row, "flags") {
			want = append(want, row)
		}
	}
	got, err := os.ReadFile(filepath.Join(folder, "filtered_result.csv"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, string(got), want)
	for name, values := range map[string]int64{
		"npu_Add_12_output_out.npy": 2, "golden_Add_20_output_out.npy": 2, "npu_Sum_13_output_count.npy": 3, "golden_Only_2_output_z.npy": 1,
	} {
		f, err := npy.Open(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Elements() != values {
			t.Errorf("%s holds %d elements, want %d", name, f.Elements(), values)
		}
		f.Close()
	}
	entries, _ := os.ReadDir(folder)
	if len(entries) != 1+8+6 {
		t.Errorf("%d files: %v", len(entries), entries)
	}
}

func TestFileNames(t *testing.T) {
	n := fileNames{}
	a, b, c := n.of("npu", "/a_b/1/output/x"), n.of("npu", "/A/b_1/output/x"), n.of("npu", "/"+strings.Repeat("ü/", 300))
	if a != "npu_a_b_1_output_x.npy" || b == a || strings.EqualFold(a, b) || len(c) > 250 || strings.ContainsAny(c, "/ü") {
		t.Errorf("%q %q %q", a, b, c)
	}
}
