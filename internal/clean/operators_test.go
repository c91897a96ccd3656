package clean

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/op"
)

// tables are the declarations outside op that name many operators and are no tables of what operators are.
var tables = map[string]string{
	"compare/oracle.dunders":              "how Python spells operators, nothing of what they are",
	"compare/oracle.functionsOfMindSpore": "primitives whose parameters are not those of the function",
}

// What an operator is stands in op and nowhere else: no declaration elsewhere has eight names of the catalogue, and
// more of them than of other words. Whoever needs something of operators asks for a trait of their rows.
func TestOperatorsStandInTheCatalogue(t *testing.T) {
	known := map[string]bool{}
	for _, row := range op.All() {
		for _, name := range row.Names {
			known[name] = true
		}
	}
	root := filepath.Join("..", "..")
	met := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); name == "testdata" || path == filepath.Join(root, "op") || strings.HasPrefix(name, ".") && name != ".." {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			for name, node := range declared(decl) {
				names, others := words(node, known)
				key := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), root+string(filepath.Separator))) + "." + name
				if names < 8 || names < others {
					continue
				}
				if met[key] = true; tables[key] == "" {
					t.Errorf("%s: %s names %d operators: say what they have in common in op/operators.txt, and ask for that", set.Position(node.Pos()), name, names)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range tables {
		if !met[key] {
			t.Errorf("%s is no table of operators and need not be listed", key)
		}
	}
}

// declared are the functions, types and values of a declaration.
func declared(decl ast.Decl) map[string]ast.Node {
	all := map[string]ast.Node{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		all[d.Name.Name] = d
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				all[s.Names[0].Name] = s
			case *ast.TypeSpec:
				all[s.Name.Name] = s
			}
		}
	}
	return all
}

var name = regexp.MustCompile(`^[A-Za-z_][\w.]*$`)

// words counts the words of texts that are nothing but names, those that are known and the others. What a statement defines
// under a name, as a form of the engine that rows ask for, is no table: many forms are called as their first operator.
func words(node ast.Node, known map[string]bool) (names, others int) {
	seen, defined := map[string]bool{}, map[ast.Node]bool{}
	ast.Inspect(node, func(n ast.Node) bool {
		if call, is := n.(*ast.ExprStmt); is { // as define("softmax", …)
			if call, is := call.X.(*ast.CallExpr); is && len(call.Args) > 1 {
				if _, plain := call.Fun.(*ast.Ident); plain {
					defined[call.Args[0]] = true
				}
			}
		}
		lit, is := n.(*ast.BasicLit)
		if !is || lit.Kind != token.STRING || defined[lit] {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,|:=\n\t", r) })
		if slices.ContainsFunc(list, func(w string) bool { return !name.MatchString(w) && w != "*" }) {
			return true
		}
		for _, w := range list {
			if w = w[strings.LastIndexByte(w, '.')+1:]; !seen[w] {
				if seen[w] = true; known[w] {
					names++
				} else {
					others++
				}
			}
		}
		return true
	})
	return names, others
}
