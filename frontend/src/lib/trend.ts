/** Where the points of a trend are drawn. Pure. */
import type { Share } from "./queries/metrics";

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

/** Points without data are left out: a line must not lead through what was not measured. */
export function places(shares: readonly Share[], width: number, height: number): readonly (Place | null)[] {
  const step = shares.length > 1 ? width / (shares.length - 1) : 0;
  const down = (value: number) => height - value * height;
  return shares.map((share, index) =>
    share.value === null || share.low === null || share.high === null
      ? null
      : {
          x: shares.length > 1 ? index * step : width / 2,
          y: down(share.value),
          low: down(share.low),
          high: down(share.high),
        },
  );
}

/** The unbroken pieces of a line. */
export function pieces(found: readonly (Place | null)[]): readonly (readonly Place[])[] {
  const made: Place[][] = [[]];
  for (const place of found) {
    if (place === null) made.push([]);
    else made.at(-1)?.push(place);
  }
  return made.filter((piece) => piece.length > 0);
}
