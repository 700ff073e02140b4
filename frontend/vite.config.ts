import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const source = fileURLToPath(new URL("./src", import.meta.url));
// The part of it for pages needs a document, which workers do not have.
const entities = fileURLToPath(
  new URL("./node_modules/decode-named-character-reference/index.js", import.meta.url),
);
const service = process.env.PHASERUNNER_URL ?? "http://127.0.0.1:8000";

const COMPRESSED = /\.(?:js|css|svg|html)$/;
const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Writes `.br` and `.gz` beside what was built; the service sends them to browsers that read them. */
function compression(): Plugin {
  return {
    name: "compression",
    apply: "build",
    async writeBundle({ dir = "dist" }) {
      const names = await readdir(dir, { recursive: true });
      const files = names.filter((name) => COMPRESSED.test(name)).map((name) => join(dir, name));
      await Promise.all(files.map(compress));
    },
  };
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  const small = await brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  await writeFile(`${file}.br`, small);
  await writeFile(`${file}.gz`, await zip(content, { level: 9 }));
}

export default defineConfig({
  plugins: [react(), tailwindcss(), compression()],
  resolve: { alias: { "@": source, "decode-named-character-reference": entities } },
  build: {
    // Browsers that know light-dark() and :has().
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: service, ws: true }, "/openapi.json": service },
  },
  test: {
    // Those that need a page say so in their first line.
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}", "tests/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
