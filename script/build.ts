// Builds `dist/`: the installed command and the library, bundled so that a start reads a few files.
import { chmodSync, cpSync } from "node:fs"
import { build, type InlineConfig, type Rolldown } from "tsdown"
import { createChunks } from "./chunks.ts"
import { licences } from "./licences.ts"

const shared: InlineConfig = {
  format: "esm",
  platform: "node",
  target: "node24",
  outDir: "dist",
  sourcemap: false,
  logLevel: "warn",
  // What is bundled is a development dependency; zod stays one of the package for its types.
  deps: { alwaysBundle: [/^(?!node:)/] },
  inputOptions: { resolve: { mainFields: ["module", "main"] } },
  outputOptions: { chunkFileNames: "[name]-[hash].js" },
  fixedExtension: false,
}

/** The width of help lines, which are plain English: the real package loads Unicode tables, 30 ms at every start. */
const plainWidth: Rolldown.Plugin = {
  name: "plain-width",
  resolveId: (id) => (id === "string-width" ? "\0plain-width" : null),
  load: (id) => (id === "\0plain-width" ? "export default (text) => text.length" : null),
}

await build({
  ...shared,
  plugins: [plainWidth, licences],
  entry: { vitamin: "src/edge/cli/vitamin.ts", index: "src/index.ts" },
  inputOptions: { ...shared.inputOptions, preserveEntrySignatures: "allow-extension" },
  outputOptions: { ...shared.outputOptions, codeSplitting: createChunks() },
  minify: true,
  dts: false,
  clean: true,
})
await build({
  ...shared,
  deps: { alwaysBundle: [] },
  entry: { index: "src/index.ts" },
  dts: { emitDtsOnly: true },
  clean: false,
})
// The embedder's file, beside the bundle that reads it, and what it was made of.
cpSync("src/knowledge/discovery/model", "dist/model", { recursive: true })
chmodSync("dist/vitamin.js", 0o755)
