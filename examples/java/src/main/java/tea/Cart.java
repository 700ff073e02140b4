package tea;

public final class Cart {
    private Cart() {}

    public static int paid(int quantity) {
        return quantity - quantity / 10;
    }
}
