package cart

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestTotal(t *testing.T) {
	for _, each := range []struct {
		name  string
		items []Item
		want  int
	}{
		{"nothing", nil, 0},
		{"some", []Item{{250, 3}}, 750},
		{"the tenth is free", []Item{{100, 10}}, 900},
	} {
		t.Run(each.name, func(t *testing.T) {
			if got := Total(each.items); got != each.want {
				t.Errorf("Total(%v) = %d, want %d", each.items, got, each.want)
			}
		})
	}
}

func TestReceipt(t *testing.T) {
	want, err := os.ReadFile("testdata/receipt.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("Total: %d", Total([]Item{{100, 20}})); got != strings.TrimSpace(string(want)) {
		t.Errorf("got %q, want %q", got, want)
	}
}
