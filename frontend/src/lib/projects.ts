/** Names of projects. Pure. */

/** The last part of a path or URL without `.git`: what people call the project. */
export function shortProject(location: string): string {
  const parts = location.replace(/[\\/]+$/, "").split(/[\\/:]/);
  return (parts.at(-1) ?? "").replace(/\.git$/, "") || location;
}

/** A name for each place that no other of them has: its last part, else its last two, else all of it. */
export function shortNames(places: readonly string[]): readonly string[] {
  const forms = places.map((place) => {
    const short = shortProject(place);
    const before = place.slice(0, place.lastIndexOf(short)).replace(/[\\/:]+$/, "");
    return [short, `${shortProject(before)}/${short}`, place] as const;
  });
  return forms.map((mine, at) => {
    const isAlone = (form: 0 | 1) =>
      forms.every((other, index) => index === at || other[form] !== mine[form]);
    return isAlone(0) ? mine[0] : isAlone(1) ? mine[1] : mine[2];
  });
}
