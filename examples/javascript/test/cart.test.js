"use strict";

const assert = require("node:assert/strict");
const { describe, it } = require("node:test");
const { total } = require("../cart.js");

describe("total", () => {
  it("of nothing is nothing", () => assert.equal(total([]), 0));
  it("adds price times quantity", () => assert.equal(total([{ price: 250, quantity: 3 }]), 750));
  it("gives the tenth for free", () => assert.equal(total([{ price: 100, quantity: 10 }]), 900));
});
