// The program shows what a package with one metric more says of it.
package main

import (
	"fmt"
	"math"

	"precision/compare/metric"
)

func main() {
	byName, ok := metric.Parse("MeanError")
	byNumber, also := metric.Parse("10")
	fmt.Println(byName, ok, byName == byNumber, also, metric.Count)
	x, y := []float32{3, 5, 1, 0}, []float32{1, 2, 1, 0}
	for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
		all := metric.Compute32(metric.Config{Numerics: numerics}, x, y)
		alone := metric.Compute32(metric.Config{Numerics: numerics, Metrics: []metric.Metric{metric.MeanError}}, x, y)
		fmt.Println(numerics, all.Text(metric.MeanError), alone.Text(metric.MeanError), all.Text(metric.RootMeanSquareError), alone.Text(metric.RootMeanSquareError))
	}
	nan := float32(math.NaN())
	r := metric.Compute32(metric.Config{}, []float32{1, nan}, []float32{1, 2})
	fmt.Println(r.Text(metric.MeanError))
	r = metric.Compute32(metric.Config{Numerics: metric.Reference, Boolean: true, Metrics: []metric.Metric{metric.MeanError}}, x, y)
	fmt.Println(r.Text(metric.MeanError), r.Notes[0].Kind == metric.NoteBoolean, r.Notes[0].Metric)
}
