// Builds `dist/`: the installed command and the library, bundled so that a start reads a few files. With `--if-changed`
// it does nothing if `dist/` is newer than all its sources: npm runs `prepare` again at the first `npx vitamin` in a
// checkout.
import { chmodSync, cpSync, readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { build, type InlineConfig, type Rolldown } from "tsdown"
import { breakLines } from "./break-lines.ts"
import { buildPage } from "./build-page.ts"
import { createChunks } from "./chunks.ts"
import { licences } from "./licences.ts"
import { noFacades } from "./no-facades.ts"
import { onlyAscii } from "./only-ascii.ts"
import { createPlainBuiltins } from "./plain-builtins.ts"

if (process.argv.includes("--if-changed") && isBuilt()) process.exit(0)

const shared: InlineConfig = {
  format: "esm",
  platform: "node",
  target: "node24",
  outDir: "dist",
  sourcemap: false,
  logLevel: "warn",
  // Bundled packages are development dependencies; zod is a real dependency too, for its types.
  deps: { alwaysBundle: [/^(?!node:)/] },
  // `npm ci` prints what is left, and nobody who installs vitamin can act on these.
  inputOptions: {
    // Parts of DBOS that vitamin does not use: its own telemetry and log.
    external: [/^@opentelemetry\//, /^winston/, "@dbos-inc/dbos-enterprise"],
    resolve: { mainFields: ["module", "main"] },
    checks: { eval: false, ineffectiveDynamicImport: false, bundlerTimings: false },
  },
  outputOptions: { chunkFileNames: "[name]-[hash].js" },
  fixedExtension: false,
}

/** The width of help lines, which are plain English: the real package loads Unicode tables, 30 ms at every start. */
const plainWidth: Rolldown.Plugin = {
  name: "plain-width",
  resolveId: (id) => (id === "string-width" ? "\0plain-width" : null),
  load: (id) => (id === "\0plain-width" ? "export default (text) => text.length" : null),
}

/** Types import "json-schema", which is another package; its types are in `@types`. */
const jsonSchemaTypes: Rolldown.Plugin = {
  name: "json-schema-types",
  resolveId: (id) => (id === "json-schema" ? resolve("node_modules/@types/json-schema/index.d.ts") : null),
}

/** Parts of the package without state. Each is also built by itself, so that a program that needs only this part does
 * not load the whole runtime. */
const alone: Record<string, string> = {
  behavioral: "src/kernel/behavioral/behavioral.ts",
  client: "src/client/client.ts",
  functiongemma: "src/ability/provider/functiongemma/functiongemma.ts",
  "markdown-links": "src/util/parse/markdown-links.ts",
  world: "src/ability/world/story.ts",
  // A process of its own.
  "story-server": "src/ability/world/server/story-server.ts",
  zod: "node_modules/zod/index.js",
}
const fromIndex = new Map(
  Object.entries(alone).map(([name, file]) => [name === "zod" ? name : file.replace("src/", "#"), name]),
)
const takeAlone: Rolldown.Plugin = {
  name: "take-alone",
  resolveId(id, importer) {
    const name = importer === resolve("src/index.ts") ? fromIndex.get(id) : undefined
    return name === undefined ? null : { id: `./${name}.js`, external: true }
  },
}
/** Our own schemas are created when they are first used. Users of the library get the real Zod. */
const lazyZod: Rolldown.Plugin = {
  name: "lazy-zod",
  resolveId(id, importer) {
    const lazy = resolve("src/util/parse/lazy-zod.ts")
    const isOurs =
      importer?.startsWith(resolve("src")) &&
      importer !== resolve("src/util/parse/zod-parts.ts") &&
      importer !== resolve("src/index.ts")
    return id === "zod" && isOurs ? lazy : null
  },
}
/** `performance` loads nine modules of Node when it is first read. Its clock and this one begin together. */
const plainClock: Rolldown.Plugin = {
  name: "plain-clock",
  transform: (code, id) =>
    id.startsWith(resolve("src")) ? code.replaceAll("performance.now()", "(process.uptime()*1e3)") : null,
}
/** Names are kept for the stacks of errors, which costs 7 % more bytes. */
const minify = { compress: true, mangle: { keepNames: { function: true, class: true } }, codegen: true }

await build({
  ...shared,
  plugins: [
    takeAlone,
    lazyZod,
    plainClock,
    plainWidth,
    licences,
    noFacades,
    createPlainBuiltins("vitamin.js"),
    onlyAscii,
    breakLines,
  ],
  entry: {
    vitamin: "src/edge/cli/vitamin.ts",
    // The process inside a sandbox.
    guest: "src/edge/sandbox/guest/guest.ts",
    index: "src/index.ts",
    // The shell parser (`parse-shell.ts`).
    unbash: "node_modules/unbash/dist/parser.js",
    "zod-parts": "src/util/parse/zod-parts.ts",
  },
  inputOptions: { ...shared.inputOptions, preserveEntrySignatures: "allow-extension" },
  outputOptions: { ...shared.outputOptions, codeSplitting: createChunks() },
  minify,
  dts: false,
  clean: true,
})
for (const [name, file] of Object.entries(alone))
  await build({
    ...shared,
    plugins: [onlyAscii, breakLines],
    entry: { [name]: file },
    outputOptions: { ...shared.outputOptions, codeSplitting: false },
    minify,
    dts: false,
    clean: false,
  })
await build({
  ...shared,
  // The types of JSON Schema are bundled, so that our types need no other package than zod.
  deps: { alwaysBundle: ["json-schema"] },
  plugins: [jsonSchemaTypes],
  entry: {
    index: "src/index.ts",
    behavioral: alone.behavioral!,
    client: alone.client!,
    functiongemma: alone.functiongemma!,
    "markdown-links": alone["markdown-links"]!,
    world: alone.world!,
  },
  tsconfig: "tsconfig.build.json",
  dts: { emitDtsOnly: true },
  clean: false,
})
await buildPage()
// The embedder's model, which the bundle reads, and the record of its origin.
cpSync("src/knowledge/embedder/model", "dist/model", { recursive: true })
// The format of `vitamin run --format json`, for programs that check it.
cpSync("docs/run-output.schema.json", "dist/run-output.schema.json")
// The OCR engine: the smallest build that every machine with Node 24 runs, and the small English data. `.cjs`, since the
// package is a module.
const core = "node_modules/tesseract.js-core/tesseract-core-simd-lstm"
cpSync(`${core}.js`, "dist/ocr/tesseract-core-simd-lstm.cjs")
cpSync(`${core}.wasm`, "dist/ocr/tesseract-core-simd-lstm.wasm")
cpSync("node_modules/@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz", "dist/ocr/eng.traineddata.gz")
chmodSync("dist/vitamin.js", 0o755)

/** Whether the last file of the build is newer than every source file, and than every folder: a file may have been
 * removed. */
function isBuilt(): boolean {
  const built = statSync("dist/index.d.ts", { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ["src", "script"].flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => !path.includes("node_modules"))
      .map((path) => join(folder, path)),
  ])
  return [...sources, "package.json", "package-lock.json"].every((path) => statSync(path).mtimeMs < built)
}
