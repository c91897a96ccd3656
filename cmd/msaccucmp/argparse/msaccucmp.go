package argparse

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// SafePath is a path, or several joined by commas, of the characters that
// msaccucmp.py lets through: letters, digits and _ / . , - in ASCII. On
// Windows the separators of that system are let through too. What is there is
// let through whatever its name: a folder called 模型 is as good as any.
var SafePath = &Type{Name: "safe_path_string", Convert: func(text string) (string, bool) {
	return text, strings.IndexFunc(text, unsafe) < 0 || allThere(text)
}}

func allThere(text string) bool {
	if _, err := os.Stat(text); err == nil {
		return true
	}
	for name := range strings.SplitSeq(text, ",") {
		if _, err := os.Stat(strings.TrimSpace(name)); err != nil {
			return false
		}
	}
	return true
}

func unsafe(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_/.,-", r):
		return false
	}
	return runtime.GOOS != "windows" || !strings.ContainsRune(`\:`, r)
}

// Msaccucmp is the command line of msaccucmp.py. One thing in it depends on
// the command line itself, so it needs the words that will be parsed: -alg
// takes a list of numbers when the second word behind it is a single digit,
// else one value, which is then a text.
func Msaccucmp(args []string) *Parser {
	return &Parser{
		Prog:  "msaccucmp.py",
		About: "Compares tensors dumped on an Ascend NPU with golden data and converts dumps.",
		Commands: []Command{
			{"compare", "compare a network, an operator or two arrays", compareOptions(args)},
			{"convert", "turn dump files into arrays", convertOptions},
			{"overflow", "report operators that overflowed", overflowOptions},
			{"file_compare", "compare two .npy files", fileCompareOptions},
		},
	}
}

// NumberList reports whether the words of a command line give -alg a list of
// numbers.
func NumberList(args []string) bool {
	i := slices.IndexFunc(args, func(s string) bool { return s == "-alg" || s == "--algorithm" })
	return i >= 0 && i+2 < len(args) && len(args[i+2]) == 1 && args[i+2][0] >= '0' && args[i+2][0] <= '9'
}

func path(short, long, metavar, about string) Option {
	return Option{Names: []string{short, long}, Type: SafePath, Metavar: metavar, About: about}
}

// outFolder is the folder for results. It need not be there yet, and may have any
// name that one made here may have.
func outFolder(about string) Option {
	return Option{Names: []string{"-out", "--output"}, Metavar: "DIR", About: about}
}

func required(o Option) Option {
	o.Required = true
	return o
}

func toggle(about string, names ...string) Option {
	return Option{Names: names, Takes: None, About: about}
}

func tensor(short, long, about string) Option {
	return Option{Names: []string{short, long}, Group: "tensor", Metavar: "INDEX", About: about}
}

var versionOption = Option{Names: []string{"-v", "--version"}, Type: Int, Choices: []string{"1", "2"}, Default: "2",
	About: "version of the dump format; 1 is read like 2"}

func compareOptions(args []string) []Option {
	algorithm := Option{Names: []string{"-alg", "--algorithm"}, Type: SafePath, Default: "all",
		About: "metrics by name or number, separated by commas; or numbers as separate words; default all"}
	if NumberList(args) {
		algorithm.Takes, algorithm.Type = Many, Int
		algorithm.Choices = strings.Split("0123456789", "")
	}
	return []Option{
		required(path("-m", "--my_dump_path", "PATH", "the dump to examine: a folder, or a file")),
		required(path("-g", "--golden_dump_path", "PATH", "the golden data: a folder, or a file")),
		path("-f", "--fusion_rule_file", "PATH", "graph after fusion, or a folder of graphs"),
		path("-q", "--quant_fusion_rule_file", "PATH", "rules of quantisation"),
		path("-cf", "--close_fusion_rule_file", "PATH", "graph built with fusion switched off"),
		outFolder("folder for results, by default the current one"),
		path("-c", "--custom_script_path", "DIR", "folder of custom metrics and conversions"),
		{Names: []string{"-a", "--algorithm_options"}, Default: "", Metavar: "TEXT", About: "parameters of custom metrics: name:key=value,...;name:..."},
		algorithm,
		toggle("write the table of matched operators, compare nothing", "-map", "--mapping"),
		toggle("check float16 tensors for overflow", "-overflow_detection"),
		{Names: []string{"-r", "--range"}, Metavar: "START,END,STEP", About: "compare operators by their place in the order of execution"},
		{Names: []string{"-s", "--select"}, Metavar: "I,J,...", About: "compare single operators by their place in the order of execution"},
		{Names: []string{"-p", "--post_process"}, Type: Int, Choices: []string{"0", "1"}, About: "whether to write the long tables of a comparison of .h5 files"},
		{Names: []string{"-max", "--max_cmp_size"}, Type: Int, Default: "0", Metavar: "N", About: "compare the first N elements of each tensor, 0 for all"},
		toggle("add a report of likely causes", "-advisor"),
		versionOption,
		{Names: []string{"-op", "--op_name"}, Metavar: "NAME", About: "compare this operator in detail"},
		tensor("-o", "--output_tensor", "the output to compare, with -op"),
		tensor("-i", "--input_tensor", "the input to compare, with -op"),
		toggle("do not write the table of elements, with -op", "--ignore_single_op_result"),
		{Names: []string{"-n", "--topn"}, Type: Int, Default: "20", Metavar: "N", About: "rows in the list of largest errors, with -op"},
		{Names: []string{"-ml", "--max_line"}, Type: Int, Default: "1000000", Metavar: "N", About: "rows in one table of elements, with -op"},
		toggle("both sides ran FFTS+ with the same slices: keep them apart", "-ffts"),
	}
}

var convertOptions = []Option{
	required(path("-d", "--dump_file", "PATH", "a dump file, several separated by commas, or a folder of them")),
	outFolder("folder for results, by default the current one"),
	{Names: []string{"-t", "--type"}, Choices: []string{"npy", "bin", "msnpy", "pt"}, Default: "npy", About: "kind of file to write, default npy"},
	versionOption,
	{Names: []string{"-f", "--format"}, Metavar: "FORMAT", About: "layout to convert the data to"},
	{Names: []string{"-s", "--shape"}, Metavar: "N,N,...", About: "shape of the result, with -f"},
	tensor("-o", "--output_tensor", "convert this output only, with -f"),
	tensor("-i", "--input_tensor", "convert this input only, with -f"),
	{Names: []string{"-c", "--custom_script_path"}, Metavar: "DIR", About: "folder of custom conversions, with -f"},
}

var overflowOptions = []Option{
	required(path("-d", "--dump_path", "DIR", "folder with the overflow records")),
	required(outFolder("folder for results")),
	{Names: []string{"-n", "--top_n"}, Type: Int, Choices: []string{"1", "2", "3", "4", "5"}, Default: "1", About: "how many of the first overflows to report, default 1"},
}

var fileCompareOptions = []Option{
	required(path("-m", "--my_dump_path", "FILE", "array to examine")),
	required(path("-g", "--golden_dump_path", "FILE", "golden array")),
	required(outFolder("folder for results")),
}
