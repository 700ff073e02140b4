use cart::{total, Item};

#[test]
fn nothing_costs_nothing() {
    assert_eq!(total(&[]), 0);
}

#[test]
fn the_tenth_is_free() {
    let items = [Item {
        price: 100,
        quantity: 10,
    }];
    assert_eq!(total(&items), 900);
}
