/** A key that makes the repetition of a request safe. Unlike randomUUID it also works over plain HTTP. */
export function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((each) => each.toString(16).padStart(2, "0"))
    .join("");
}
