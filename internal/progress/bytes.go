package progress

import (
	"fmt"
	"strings"
	"time"
)

// Bytes is a bar of work that is counted in bytes: it tells the rate and how long the
// rest will take. A nil Bytes shows nothing.
type Bytes struct {
	bar   *Bar
	start time.Time
	first int64 // done before
	begun bool
}

// NewBytes is such a bar on b.
func NewBytes(b *Bar) *Bytes {
	if b == nil {
		return nil
	}
	return &Bytes{bar: b}
}

// Set draws done of total bytes.
func (b *Bytes) Set(done, total int64) {
	if b == nil || total <= 0 {
		return
	}
	b.bar.mu.Lock()
	defer b.bar.mu.Unlock()
	now := time.Now()
	if !b.begun {
		b.begun, b.start, b.first = true, now, done
	}
	if now.Sub(b.bar.last) < redraw && done < total {
		return
	}
	b.bar.last = now
	b.bar.draw(b.bar.text(done, total, b.count(done, total, now.Sub(b.start))))
}

// count is what stands behind the bar: bytes, percent, the rate and the rest.
func (b *Bytes) count(done, total int64, took time.Duration) string {
	text := fmt.Sprintf(" %s/%s %3d%%", Size(done), Size(total), int(float64(done)/float64(total)*100))
	if took < time.Second || done <= b.first {
		return text
	}
	rate := float64(done-b.first) / took.Seconds()
	return text + fmt.Sprintf(" %s/s %s", Size(int64(rate)), Span(time.Duration(float64(total-done)/rate*float64(time.Second))))
}

// Size writes a number of bytes: 512 B, 1.2 GB.
func Size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	v, k := float64(n), 0
	for v >= 999.95 && k < len(units)-1 {
		v, k = v/1000, k+1
	}
	if k == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + units[k]
}

// Span writes a time for people: 0.4s, 12s, 3m05s, 2h10m, 3d04h.
func Span(d time.Duration) string {
	s := int64(d.Round(time.Second).Seconds())
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}
