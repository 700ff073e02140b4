// Fails when what a browser loads before the first page is shown weighs more than it may.
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 160;
const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(await readFile(new URL(".vite/manifest.json", dist), "utf8"));
const entry = Object.keys(manifest).find((name) => manifest[name].isEntry);
const seen = new Set();

function collect(name) {
  if (seen.has(name)) return;
  seen.add(name);
  for (const each of manifest[name].imports ?? []) collect(each);
}

collect(entry);
let total = 0;
for (const name of seen) {
  const file = manifest[name].file;
  if (!file.endsWith(".js")) continue;
  const size = gzipSync(await readFile(new URL(file, dist))).length / 1000;
  total += size;
  console.log(`${size.toFixed(1).padStart(7)} kB  ${file}`);
}
console.log(`${total.toFixed(1).padStart(7)} kB  gzipped before the first page; the limit is ${LIMIT_KB} kB`);
process.exit(total > LIMIT_KB ? 1 : 0);
