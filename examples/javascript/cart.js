"use strict";

/** Sum of price times quantity, in cents; the tenth of equal things is free. */
exports.total = (items) =>
  items.reduce((sum, { price, quantity }) => sum + price * (quantity - Math.floor(quantity / 10)), 0);
