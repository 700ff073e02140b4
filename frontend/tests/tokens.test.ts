/** Computes that every colour of the page can be read, and that states stay apart for whoever sees fewer colours. */
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

type Rgb = readonly [number, number, number];

const css = readFileSync("src/app/tokens.css", "utf8");
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)].map((found) => [
    found[1]!,
    { light: found[2]!, dark: found[3]! },
  ]),
);
const THEMES = ["light", "dark"] as const;
/** In OKLab, where 0.02 is just noticed side by side. */
const APART = 0.05;
const STATES = ["passed", "failed", "errored", "skipped", "running"] as const;

function colour(name: string, theme: (typeof THEMES)[number]): Rgb {
  const hex = tokens.get(name)?.[theme];
  if (hex === undefined) throw new Error(`tokens.css has no --${name}`);
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb;
}

const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** WCAG 2 relative luminance and contrast. */
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map(linear) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB. */
const SIGHT: Record<string, readonly Rgb[]> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** OKLab of what is seen. */
function seen(rgb: Rgb, sight: string): Rgb {
  const given = rgb.map(linear);
  const [r, g, b] = SIGHT[sight]!.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, weight, at) => sum + weight * given[at]!, 0),
      ),
    ),
  ) as unknown as Rgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (one: Rgb, other: Rgb) => Math.hypot(...one.map((value, at) => value - other[at]!));

describe.each(THEMES)("%s", (theme) => {
  it.each([
    ...STATES,
    "ink",
    "muted",
    "accent",
    "added",
    "removed",
    "ansi-green",
    "ansi-yellow",
    "ansi-cyan",
  ])("%s can be read on the canvas", (name) => {
    expect(contrast(colour(name, theme), colour("canvas", theme))).toBeGreaterThanOrEqual(4.6);
  });

  it.each([
    ["waiting", "waiting-chip"],
    ["on-accent", "accent"],
    ["ink", "sunken"],
    ["muted", "sunken"],
    ["accent", "sunken"],
    ["ink", "added-tint"],
    ["ink", "removed-tint"],
    ["ink", "highlight"],
    ["ink", "waiting-chip"],
    ["added", "added-tint"],
    ["removed", "removed-tint"],
    ["muted", "added-tint"],
    ["muted", "removed-tint"],
    ["failed", "removed-tint"],
  ])("%s can be read on %s", (text, ground) => {
    expect(contrast(colour(text, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  const pairs = STATES.flatMap((one, at) => STATES.slice(at + 1).map((other) => [one, other] as const));
  it.each(pairs)("%s and %s stay apart for every sight", (one, other) => {
    for (const sight of Object.keys(SIGHT)) {
      const apart = distance(seen(colour(one, theme), sight), seen(colour(other, theme), sight));
      expect(apart, sight).toBeGreaterThan(APART);
    }
  });
});
