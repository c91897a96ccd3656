package capture

import (
	"testing"

	"precision/internal/msg/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }
