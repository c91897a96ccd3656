package layout

import "time"

var benchStart = time.Now()

// nanotime is a monotonic clock.
func nanotime() int64 { return int64(time.Since(benchStart)) }
