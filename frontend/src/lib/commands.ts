/** The same action as a curl call and as a command line. Pure. */

/** `value` as one word of a POSIX shell. */
export function quote(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

export function curl(origin: string, method: string, path: string, body?: unknown, token = false): string {
  const parts = ["curl -sS"];
  if (method !== "GET") parts.push(`-X ${method}`);
  parts.push(quote(origin + path));
  // The token itself belongs into no clipboard.
  if (token) parts.push('-H "Authorization: Bearer $PHASERUNNER_TOKEN"');
  if (body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`);
  return parts.join(" ");
}

/** Whether a command would read a text from elsewhere: `-` from its input, `@path` from a file. */
export const isReference = (text: string): boolean => text === "-" || text.startsWith("@");

/**
 * A command that runs as copied: it names the service, and `repo` where it works on a local repository.
 *
 * `--` ends the options: words behind it may begin with a dash.
 */
export function command(origin: string, words: readonly string[], repo = ""): string {
  const places = [...(repo ? [`--repo=${repo}`] : []), `--url=${origin}`];
  const end = words.indexOf("--");
  const all = end < 0 ? [...words, ...places] : [...words.slice(0, end), ...places, ...words.slice(end)];
  return ["phaserunner", ...all.map(quote)].join(" ");
}
