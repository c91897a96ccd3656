//go:build qemu

package dtype

import (
	"testing"

	"precision/internal/qemu"
)

func TestARM64(t *testing.T) { qemu.Test(t, ".") }
