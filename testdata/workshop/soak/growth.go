package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// Growth is an input that grows, and commands whose cost must not grow faster than it does.
type Growth struct {
	Name string
	// n is the smallest size, at which a command takes long enough to be measured.
	n int
	// lay writes the input of a size into a folder.
	lay func(dir string, n int, rng *rand.Rand) error
	// commands are command lines; the first word is the program.
	commands []string
	// first is a command that makes more of the input.
	first string
}

// Grown is what a command took at the sizes n, 2n and 4n. Processor time is the program's own: what a system
// takes to write files goes with the disk (0.06 s for a thousand files, and 0.95 s for two thousand, in one run).
type Grown struct {
	Growth, Command string
	N               int
	CPU             [3]time.Duration
	Memory          [3]int64
}

// steep is how many times as much twice the input may take, and slack what is left out of that: the
// start of a program and the noise of a machine. What costs the square takes 4 times as much, n log n 2.2 times.
const (
	steep       = 3.0
	slackCPU    = 150 * time.Millisecond
	slackMemory = 32 << 20
)

// Steep tells what grew faster than the input, "" if nothing did.
func (g *Grown) Steep() string {
	for i := 1; i < 3; i++ {
		if float64(g.CPU[i]) > steep*float64(g.CPU[i-1])+float64(slackCPU) {
			return fmt.Sprintf("takes %v of a processor for %d times %d, and %v for half of it", g.CPU[i], 1<<i, g.N, g.CPU[i-1])
		}
		if float64(g.Memory[i]) > steep*float64(g.Memory[i-1])+slackMemory {
			return fmt.Sprintf("takes %d MB for %d times %d, and %d MB for half of it", g.Memory[i]>>20, 1<<i, g.N, g.Memory[i-1]>>20)
		}
	}
	return ""
}

// Grow runs the commands of an input at three sizes. What seems steep is measured once more,
// and the smaller cost counts.
func (g *Growth) Grow(programs map[string]Program, seed uint64, work string, take func(Grown)) (err error) {
	defer must.Catch(&err)
	var dirs [3]string
	for i := range dirs {
		dirs[i] = filepath.Join(work, fmt.Sprint(g.n<<i))
		must.Do(os.MkdirAll(dirs[i], 0o700))
		must.Do(g.lay(dirs[i], g.n<<i, rand.New(rand.NewPCG(seed, uint64(i)))))
	}
	for _, dir := range dirs {
		if words := strings.Fields(g.first); len(words) > 0 {
			p := programs[words[0]]
			p.Dir = dir
			if _, err := p.run(0, words[1:]...); err != nil {
				return fmt.Errorf("%s: %s: %w", g.Name, g.first, err)
			}
		}
	}
	for _, command := range g.commands {
		words := strings.Fields(command)
		found := Grown{Growth: g.Name, Command: command, N: g.n}
		for try := range 3 {
			for i, dir := range dirs {
				p := programs[words[0]]
				p.Dir = dir
				p.Env = append(p.Env, "HOME="+work, "PRECISION_DATA="+work)
				out := filepath.Join(dir, "out")
				os.RemoveAll(out)
				must.Do(os.Mkdir(out, 0o700))
				e, err := p.run(0, words[1:]...)
				must.Not(err != nil, "%s, %d: %s: %w", g.Name, g.n<<i, command, err)
				if try == 0 || e.user < found.CPU[i] {
					found.CPU[i] = e.user
				}
				if try == 0 || e.memory < found.Memory[i] {
					found.Memory[i] = e.memory
				}
			}
			if found.Steep() == "" {
				break
			}
		}
		take(found)
	}
	return nil
}

// Growths are the inputs that grow: each of the readers, the ways to bring two sides together, the judge
// and what renders its verdict.
func Growths() []*Growth {
	const first = "precision report table.csv -json table.json"
	const judged = " -json out/j -html out/h -junit out/u -sarif out/s"
	compare := "precision compare -lt npu -rt golden -out out"
	return []*Growth{
		{"a dump of outputs without elements", 10000, layEmpty, []string{compare + judged, "precision pt npu/Add.add1.1.2.1700000000000000"}, ""},
		{"a dump of outputs without elements, converted", 1000, layEmpty, []string{"msaccucmp convert -d npu -out out"}, ""},
		{"calls in one order", 2000, layCalls(false), []string{compare + judged, "precision check npu -out out"}, ""},
		{"calls in another order", 1000, layCalls(true), []string{compare + judged}, ""},
		{"calls that are all alike", 1000, layAlike, []string{compare + judged}, ""},
		{"calls that the other side has not", 1000, layUnlike, []string{compare + judged}, ""},
		{"calls of many tensors", 1000, layForeach, []string{compare + judged, "precision check npu -out out"}, ""},
		{"modules in modules", 2000, layModules(true), []string{compare + judged, "precision check npu -out out"}, ""},
		{"modules side by side", 2000, layModules(false), []string{compare + judged}, ""},
		{"operations of ATB", 400, layATB, []string{compare + judged}, ""},
		{"calls in HDF5", 2000, layH5, []string{"msaccucmp compare -m npu.h5 -g golden.h5 -out out"}, ""},
		{"a job of many steps", 50, layJob, []string{compare + " -all", "precision check npu -out out"}, ""},
		{"a graph", 4000, layGraph, []string{"precision graph graph.txt -ls", "precision graph graph.txt -json out/g", compare + " -g graph.txt" + judged, "precision check npu -g graph.txt -out out",
			"msaccucmp compare -m npu -g golden -f graph.txt -out out"}, ""},
		{"a graph of other forms", 8000, layOffline, []string{"precision graph model.om -ls", "precision graph model.om -json out/g", "precision graph ge_onnx_00000001_graph_1_Build.pbtxt -json out/g",
			"precision graph graph.json -ls", "precision graph graph.json -root op5 -svg out/s -dot out/d", compare + " -g model.om" + judged}, "precision graph model.om -json graph.json"},
		{"a graph of one name", 4000, layOneName, []string{"precision graph graph.txt -ls", "precision graph graph.txt -json out/g"}, ""},
		{"an operator of many inputs", 4000, layInputs, []string{"precision graph graph.txt -ls", "precision graph graph.txt -json out/g", "precision graph graph.txt -diff graph.txt"}, ""},
		{"graphs that differ everywhere", 2000, layOther, []string{"precision graph graph.txt -diff other.txt"}, ""},
		{"a table and a waiver for each row", 4000, layTable, []string{"precision report table.json -profile profile.toml" + judged}, first},
		{"a table of errors", 4000, layTable, []string{"precision report table.json" + judged, "precision report table.csv" + judged, "precision report table.json -sort cosine"}, first},
		{"renamed dumps", 4000, layMapping, []string{compare}, ""},
		{"lists of files in another order", 20000, layLists, []string{"precision preflight diff a.md5 b.md5"}, ""},
		{"configurations that differ everywhere", 16000, layConfigs, []string{"precision preflight diff a.yaml b.yaml", "precision preflight diff a.json b.json"}, ""},
		{"logs of other lines", 20000, layLogs, []string{"precision preflight diff a.log b.log -html out/h"}, ""},
	}
}

// lines writes n lines.
func lines(path string, n int, line func(i int) string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// layEmpty is a dump whose header lists n outputs of nothing, two bytes each.
func layEmpty(dir string, n int, rng *rand.Rand) error {
	d := dumptest.Dump{OpName: "add1", Time: largeStart, Outputs: make([]dumptest.Tensor, n)}
	for i := range d.Outputs {
		d.Outputs[i] = dumptest.Tensor{Type: 1 + rng.IntN(2)}
	}
	if err := os.MkdirAll(filepath.Join(dir, "npu"), 0o700); err != nil {
		return err
	}
	if err := d.Write(filepath.Join(dir, "npu", "Add.add1.1.2.1700000000000000")); err != nil {
		return err
	}
	return goldenOf(dir, "add1.0.1700000000000000.npy", 3)
}

func goldenOf(dir, name string, n int64) error {
	if err := os.MkdirAll(filepath.Join(dir, "golden"), 0o700); err != nil {
		return err
	}
	return dumptest.WriteNpy(filepath.Join(dir, "golden", name), "<f4", []int64{n}, make([]byte, 4*n))
}

// callTypes are what the calls of recordings do.
var callTypes = []string{"linear", "relu", "layer_norm", "softmax", "add", "matmul", "dropout", "gelu"}

// recordOf is a recording of calls; call gives the type and the mean of call i of n.
func recordOf(dir string, n int, call func(i int) (typ string, mean float64)) error {
	count := map[string]int{}
	calls := make([]string, n)
	for i := range calls {
		typ, mean := call(i)
		tensor := fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.float32","shape":[4,%d],"Max":%g,"Min":%g,"Mean":%g,"Norm":%g,"requires_grad":false}`, 16+16*(i%3), mean+1, mean-1, mean, 3*mean+4)
		calls[i] = fmt.Sprintf(`"Functional.%s.%d.forward":{"input_args":[%s],"input_kwargs":{},"output":[%s]}`, typ, count[typ], tensor, tensor)
		count[typ]++
	}
	return putCalls("L1", calls, dir)
}

// layCalls are two recordings of the same calls, the second one shuffled or not.
func layCalls(shuffled bool) func(string, int, *rand.Rand) error {
	return func(dir string, n int, rng *rand.Rand) error {
		types, means, order := make([]string, n), make([]float64, n), rng.Perm(n)
		for i := range n {
			types[i], means[i] = callTypes[rng.IntN(len(callTypes))], rng.Float64()
		}
		for _, side := range []string{"npu", "golden"} {
			err := recordOf(filepath.Join(dir, side), n, func(i int) (string, float64) {
				if shuffled && side == "golden" {
					i = order[i]
				}
				return types[i], means[i]
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// layAlike are recordings of calls that only their numbers tell apart, of which one has a few more.
func layAlike(dir string, n int, _ *rand.Rand) error {
	err := recordOf(filepath.Join(dir, "npu"), n, func(int) (string, float64) { return "relu", 0.5 })
	if err == nil {
		err = recordOf(filepath.Join(dir, "golden"), n+7, func(int) (string, float64) { return "relu", 0.5 })
	}
	return err
}

func layGraph(dir string, n int, _ *rand.Rand) error {
	f, err := os.Create(filepath.Join(dir, "graph.txt"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := (Large{Ops: n}).Graph(f); err != nil {
		return err
	}
	return Large{Ops: n}.Record(filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), 100)
}

// opText is an operator of a graph in the form of GE.
func opText(name, typ string, inputs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  op {\n    name: %q\n    type: %q\n", name, typ)
	for _, in := range inputs {
		fmt.Fprintf(&b, "    input: \"%s:0\"\n", in)
	}
	b.WriteString("    output_desc {\n      dtype: DT_FLOAT\n    }\n  }")
	return b.String()
}

func graphOf(path string, n int, op func(i int) string) error {
	return lines(path, n+2, func(i int) string {
		switch i {
		case 0:
			return "name: \"grown\"\ngraph {\n  name: \"grown_1\""
		case n + 1:
			return "}"
		}
		return op(i - 1)
	})
}

func layOneName(dir string, n int, _ *rand.Rand) error {
	return graphOf(filepath.Join(dir, "graph.txt"), n, func(int) string { return opText("same", "Relu", "same") })
}

func layInputs(dir string, n int, _ *rand.Rand) error {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("in", i)
	}
	return graphOf(filepath.Join(dir, "graph.txt"), n+1, func(i int) string {
		if i < n {
			return opText(names[i], "Data")
		}
		return opText("all", "ConcatV2", names...)
	})
}

func layOther(dir string, n int, rng *rand.Rand) error {
	for _, name := range []string{"graph.txt", "other.txt"} {
		last := "x"
		err := graphOf(filepath.Join(dir, name), n, func(i int) string {
			before := last
			last = fmt.Sprintf("%s_%d_%x", strings.TrimSuffix(name, ".txt"), i, rng.Uint32())
			return opText(last, callTypes[rng.IntN(len(callTypes))], before)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layTable is a table whose rows are all bad, and a profile that waives each.
func layTable(dir string, n int, rng *rand.Rand) error {
	err := lines(filepath.Join(dir, "table.csv"), n+1, func(i int) string {
		if i == 0 {
			return "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason"
		}
		return fmt.Sprintf(`%d,Relu,layer%d/relu,float16,NaN,layer%d/relu,float32,layer%d/relu:output:0,"[2,3]",%.6f,1.000000,0.900000,0.800000,0.100000,"(0;1),(0;1)",0.5,0.6,0.7,0.8,`, i-1, i, i, i, rng.Float64()/2)
	})
	if err != nil {
		return err
	}
	return lines(filepath.Join(dir, "profile.toml"), n+1, func(i int) string {
		if i == 0 {
			return "name = \"grown\""
		}
		return fmt.Sprintf("[[waiver]]\ntensor = %q\nreason = \"known\"", fmt.Sprintf([]string{"layer%d/relu:output:0", "layer%d/*", "*r%d/relu:*", "*/none%d/*"}[i%4], i))
	})
}

func layMapping(dir string, n int, rng *rand.Rand) error {
	npu := filepath.Join(dir, "npu")
	err := lines(filepath.Join(npu, "mapping.csv"), n, func(i int) string {
		return fmt.Sprintf("%020d,Add.add%d.1.2.%d", rng.Uint64(), i, largeStart+i)
	})
	if err == nil {
		d := dumptest.Dump{OpName: "add1", Time: largeStart, Outputs: []dumptest.Tensor{{Type: dumptest.Float16, Format: dumptest.ND, Shape: []int64{1}, Data: dumptest.Halves([]float32{1})}}}
		err = d.Write(filepath.Join(npu, "Add.add1.1.2.1700000000000000"))
	}
	if err != nil {
		return err
	}
	return goldenOf(dir, "add1.0.1700000000000000.npy", 1)
}

func layLists(dir string, n int, rng *rand.Rand) error {
	order := rng.Perm(n)
	for _, name := range []string{"a.md5", "b.md5"} {
		if err := lines(filepath.Join(dir, name), n, func(i int) string {
			if name == "b.md5" {
				i = order[i]
			}
			return fmt.Sprintf("%032x  data/%d/x.npy", i*7919, i)
		}); err != nil {
			return err
		}
	}
	return nil
}

func layConfigs(dir string, n int, rng *rand.Rand) error {
	for _, name := range []string{"a", "b"} {
		yaml := func(i int) string { return fmt.Sprintf("%s_key%d_%x: %d", name, i, rng.Uint32(), i) }
		json := func(i int) string {
			return []string{"{", ","}[min(i, 1)] + fmt.Sprintf("\"%s_key%d_%x\": \"%0100d\"", name, i, rng.Uint32(), i) + []string{"", "}"}[i/(n-1)]
		}
		if err := errors.Join(lines(filepath.Join(dir, name+".yaml"), n, yaml), lines(filepath.Join(dir, name+".json"), n, json)); err != nil {
			return err
		}
	}
	return nil
}

func layLogs(dir string, n int, rng *rand.Rand) error {
	for _, name := range []string{"a.log", "b.log"} {
		if err := lines(filepath.Join(dir, name), n, func(i int) string {
			return fmt.Sprintf("step: %d loss: %.4f lr: 0.001 grad_norm: %.3f", i, 2+rng.Float64(), rng.Float64())
		}); err != nil {
			return err
		}
	}
	return nil
}
