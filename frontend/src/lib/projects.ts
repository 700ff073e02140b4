/** Names of projects. Pure. */

/** The last part of a path or URL without `.git`: what people call the project. */
export function shortProject(location: string): string {
  const parts = location.replace(/[\\/]+$/, "").split(/[\\/:]/);
  return (parts.at(-1) ?? "").replace(/\.git$/, "") || location;
}
