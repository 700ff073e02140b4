//! Adds prices.

/// A number of equal things; the price is in cents.
pub struct Item {
    pub price: u32,
    pub quantity: u32,
}

/// The sum of price times quantity, in cents; the tenth of equal things is free.
pub fn total(items: &[Item]) -> u32 {
    items
        .iter()
        .map(|each| each.price * paid(each.quantity))
        .sum()
}

fn paid(quantity: u32) -> u32 {
    quantity - quantity / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_are_paid() {
        assert_eq!(paid(9), 9);
    }

    #[test]
    fn the_tenth_is_not_paid() {
        assert_eq!(paid(10), 9);
    }
}
