// Package cart adds prices.
package cart

// Item is a number of equal things; the price is in cents.
type Item struct {
	Price, Quantity int
}

// Total is the sum of price times quantity, in cents; the tenth of equal things is free.
func Total(items []Item) int {
	sum := 0
	for _, each := range items {
		sum += each.Price * (each.Quantity - each.Quantity/10)
	}
	return sum
}
