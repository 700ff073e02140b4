from prices import gross


def test_tax_is_added() -> None:
    assert gross(1000, 19) == 1190
