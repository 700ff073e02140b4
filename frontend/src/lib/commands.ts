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

export function command(...words: readonly string[]): string {
  return ["phaserunner", ...words.map(quote)].join(" ");
}
