import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const source = fileURLToPath(new URL("./src", import.meta.url));
const service = process.env.PHASERUNNER_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": source } },
  build: {
    // Browsers that know light-dark() and :has().
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
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
