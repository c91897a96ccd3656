package draw

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/graphtest"
)

func TestNeighborhood(t *testing.T) {
	x := shortIndex(t, "g", `
		a T - DT_FLOAT
		b T a:0 DT_FLOAT
		c T b:0,a:0 DT_FLOAT
		d T c:0 DT_FLOAT
		e T c:0 DT_FLOAT
		f T d:0,e:0,b:0
		side T a:0
		wait T c:-1
		out NetOutput c:0
		after T out:0`)
	list := func(d *Drawing) string {
		var b strings.Builder
		for _, n := range d.Nodes {
			fmt.Fprintf(&b, "%s", n.Op.Name)
			if n.MoreIn+n.MoreOut > 0 {
				fmt.Fprintf(&b, "-%d+%d", n.MoreIn, n.MoreOut)
			}
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d edges, %d cut", len(d.Edges), d.Cut)
		return b.String()
	}
	c := graphtest.Op(t, x, "c")
	for _, k := range []struct {
		depth, most int
		want        string
	}{
		{0, mostNodes, "c-2+3 0 edges, 0 cut"},
		{1, mostNodes, "c b-0+1 a-0+1 d-0+1 e-0+1 out-0+1 6 edges, 0 cut"},
		{2, mostNodes, "c b a-0+1 d e out-0+1 f 9 edges, 0 cut"},
		{9, mostNodes, "c b a-0+1 d e out-0+1 f 9 edges, 0 cut"},
		{2, 3, "c-0+3 b-0+1 a-0+1 3 edges, 3 cut"},
	} {
		defer func(was int) { mostNodes = was }(mostNodes)
		mostNodes = k.most
		if got := list(Neighborhood(x, c, k.depth)); got != k.want {
			t.Errorf("depth %d: %s, want %s", k.depth, got, k.want)
		}
	}
	mostNodes = 4
	if got := list(Whole(x, x.Model.Graphs[0])); got != "a-0+1 b-0+1 c-0+2 d-0+1 4 edges, 6 cut" {
		t.Errorf("whole: %s", got)
	}
}

func TestLayout(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 5 + r.IntN(120)
		w, h := make([]float64, n), make([]float64, n)
		for i := range w {
			w[i], h[i] = 40+200*r.Float64(), 20+40*r.Float64()
		}
		var edges [][2]int
		for range r.IntN(3 * n) {
			edges = append(edges, [2]int{r.IntN(n), r.IntN(n)}) // circles and loops among them
		}
		l := layOut(w, h, edges)
		for i, e := range l.edges {
			a, b := e.ends()
			if a != b && l.nodes[a].layer >= l.nodes[b].layer {
				t.Fatalf("seed %d: edge %d runs from layer %d to %d", seed, i, l.nodes[a].layer, l.nodes[b].layer)
			}
			if e.path[0] != e.from || e.path[len(e.path)-1] != e.to {
				t.Fatalf("seed %d: path of edge %d-%d: %v", seed, e.from, e.to, e.path)
			}
		}
		for _, layer := range l.layers {
			for k := 1; k < len(layer); k++ {
				p, q := &l.nodes[layer[k-1]], &l.nodes[layer[k]]
				if p.x+p.w/2+gapX > q.x-q.w/2+1e-6 {
					t.Fatalf("seed %d: boxes overlap: %v+%v, %v-%v", seed, p.x, p.w/2, q.x, q.w/2)
				}
			}
		}
		for i := range l.nodes {
			m := &l.nodes[i]
			if math.IsNaN(m.x) || m.x-m.w/2 < -1e-6 || m.x+m.w/2 > l.width+1e-6 || m.y-m.h/2 < -1e-6 || m.y+m.h/2 > l.height+1e-6 {
				t.Fatalf("seed %d: box at %v %v outside %v x %v", seed, m.x, m.y, l.width, l.height)
			}
		}
	}
	if l := layOut(nil, nil, nil); l.width != 0 {
		t.Error("empty layout")
	}
}

// TestOrder: two chains whose ends are swapped are untangled.
func TestUntangle(t *testing.T) {
	size := []float64{10, 10, 10, 10, 10, 10}
	l := layOut(size, size, [][2]int{{0, 3}, {1, 2}, {2, 5}, {3, 4}})
	if n := l.crossings(); n != 0 {
		t.Errorf("%d crossings", n)
	}
	if n := inversions([]int{3, 1, 2, 0}); n != 5 {
		t.Errorf("%d inversions, want 5", n)
	}
}

func TestSVG(t *testing.T) {
	x := indexOf(t, graphtest.DrawGraph)
	conv, relu := x.Ops[1], x.Ops[2]
	d := Neighborhood(x, conv, 3)
	d.Cut = 7
	style := Style{Heat: map[*graph.Op]float64{conv: 0.95, relu: math.NaN()}}
	var b bytes.Buffer
	if err := d.WriteSVG(&b, style); err != nil {
		t.Fatal(err)
	}
	var texts []string
	count := map[string]int{}
	for dec := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			count[tok.Name.Local]++
		case xml.CharData:
			texts = append(texts, string(tok))
		}
	}
	if count["path"] != 3+1 || count["rect"] != 3+1 { // edges and arrow head, boxes and background
		t.Errorf("elements %v", count)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"conv{}|", `in<&"'>`, "float16 [1,3]", "int32 []", "float []", "CosineSimilarity 0.95", "CosineSimilarity NaN", "7 more operators",
		"Colours: CosineSimilarity, red 0.9, green 1", "id 1, stream 0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if s := b.String(); !strings.Contains(s, "#ebeb6e") || !strings.Contains(s, "#c9a7e0") || !strings.Contains(s, `stroke="#d00"`) {
		t.Errorf("colours of metric and root:\n%s", s)
	}
	var again bytes.Buffer
	d.WriteSVG(&again, style)
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("two drawings of the same differ")
	}
}

func TestDOT(t *testing.T) {
	x := indexOf(t, graphtest.DrawGraph)
	var b bytes.Buffer
	if err := Neighborhood(x, x.Ops[1], 1).WriteDOT(&b, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`n0 [label="{{<i0> [0] [float16]}|[Conv2D] conv\{\}\||{<o0> [0] [float]}}", fillcolor="#b9d4f5"`,
		`n1 [label="{[Data] in\<&\"'\>|{<o0> [0] [float16]\n[1,3]|<o1> [1] [int32]}}"`,
		`n1:o0 -> n0:i0 [label="float16 [1,3]"];`,
		`color=red`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestElide(t *testing.T) {
	if got := elide("abcdefghijklmnop", 9); got != "abc…lmnop" || len([]rune(got)) != 9 {
		t.Error(got)
	}
	if got := elide("原原原", 9); got != "原原原" {
		t.Error(got)
	}
}

func TestTypeColor(t *testing.T) {
	for a, b := range map[string]string{"Conv2D": "DepthwiseConv2D", "TransData": "Cast", "Relu": "Add", "Const": "Data"} {
		if TypeColor(a) != TypeColor(b) {
			t.Errorf("%s and %s differ", a, b)
		}
	}
	if TypeColor("Conv2D") == TypeColor("Relu") || !strings.HasPrefix(TypeColor("Whatever"), "#") {
		t.Error("colours")
	}
}

func BenchmarkSVG(b *testing.B) {
	m, err := read.Open(context.Background(), graphtest.Real(b, "resnet50/ge_proto_00000062_Build.txt"))
	if err != nil {
		b.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		b.Fatal(err)
	}
	d := Whole(x, m.Graphs[0])
	for b.Loop() {
		d.WriteSVG(io.Discard, Style{})
	}
}

func indexOf(t testing.TB, text string) *graph.Index {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(text), "g.txt")
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// shortIndex indexes a graph in the short form of graphtest.Short.
func shortIndex(t *testing.T, path, lines string) *graph.Index {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(graphtest.Short(lines)), path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
