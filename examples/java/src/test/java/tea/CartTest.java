package tea;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CartTest {
    @Test
    public void nineArePaid() {
        assertEquals(9, Cart.paid(9));
    }

    @Test
    public void theTenthIsFree() {
        assertEquals(9, Cart.paid(10));
    }
}
