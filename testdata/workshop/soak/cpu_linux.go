package soak

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpuOf is the processor time that a running process has used so far, from
// /proc/PID/stat, whose unit is a hundredth of a second (proc_pid_stat(5)).
func cpuOf(pid int) (time.Duration, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// Fields are counted from behind the name, which may hold anything: the state is the third.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(fields[14-3], 10, 64)
	system, errSystem := strconv.ParseInt(fields[15-3], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, errSystem) == nil
}
