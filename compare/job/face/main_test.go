package face

import (
	"os"
	"testing"

	"precision/testdata/workshop/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.Main(m)) }
