//go:build qemu

package oracle

import (
	"testing"

	"precision/testdata/workshop/qemu"
)

func TestARM64(t *testing.T) { qemu.Test(t, "TestProducts") }
