package metric_test

import (
	"fmt"

	"precision/compare/metric"
)

func Example() {
	mine := []float32{1, 2, -3, -100}
	golden := []float32{1, 2, -3, 100}
	result := metric.Compute32(metric.Config{}, mine, golden)
	for _, m := range []metric.Metric{metric.CosineSimilarity, metric.MaxAbsoluteError, metric.StandardDeviation} {
		fmt.Println(m, result.Text(m))
	}
	// Output:
	// CosineSimilarity -0.997204
	// MaxAbsoluteError 200.000000
	// StandardDeviation (-25.000;43.342),(25.000;43.342)
}
