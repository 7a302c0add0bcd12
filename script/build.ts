// Builds `dist/`: the installed command and the library, bundled so that a start reads a few files. With `--if-changed`
// it does nothing when `dist/` is newer than everything that it is built from: npm runs `prepare` again when `npx vitamin`
// is called in a checkout for the first time.
import { chmodSync, cpSync, readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { build, type InlineConfig, type Rolldown } from "tsdown"
import { breakLines } from "./break-lines.ts"
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

/** Types import "json-schema", which is another package; its types are in `@types`. */
const jsonSchemaTypes: Rolldown.Plugin = {
  name: "json-schema-types",
  resolveId: (id) => (id === "json-schema" ? resolve("node_modules/@types/json-schema/index.d.ts") : null),
}

/** Parts of the package that keep no state. They are built once more, each by itself, so that a program which bundles one
 * function, or imports a subpath, does not get the whole runtime. */
const alone: Record<string, string> = {
  client: "src/client/client.ts",
  functiongemma: "src/ability/provider/functiongemma/functiongemma.ts",
  "markdown-links": "src/util/parse/markdown-links.ts",
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
/** Schemas of ours are made when they are first used. What Zod gets from the library's users is Zod's own. */
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
/** Stacks of errors name our functions: 7 % more bytes. */
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
    index: "src/index.ts",
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
  // The types of JSON Schema come along: the package's own types need no other package than zod.
  deps: { alwaysBundle: ["json-schema"] },
  plugins: [jsonSchemaTypes],
  entry: {
    index: "src/index.ts",
    client: alone.client!,
    functiongemma: alone.functiongemma!,
    "markdown-links": alone["markdown-links"]!,
  },
  tsconfig: "tsconfig.build.json",
  dts: { emitDtsOnly: true },
  clean: false,
})
// The embedder's file, beside the bundle that reads it, and what it was made of.
cpSync("src/knowledge/embedder/model", "dist/model", { recursive: true })
// The OCR engine: the smallest build that every machine with Node 24 runs, and the small English data. `.cjs`, since the
// package is a module.
const core = "node_modules/tesseract.js-core/tesseract-core-simd-lstm"
cpSync(`${core}.js`, "dist/ocr/tesseract-core-simd-lstm.cjs")
cpSync(`${core}.wasm`, "dist/ocr/tesseract-core-simd-lstm.wasm")
cpSync("node_modules/@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz", "dist/ocr/eng.traineddata.gz")
chmodSync("dist/vitamin.js", 0o755)

/** The last file of a build is newer than every source file, and than every folder, from which a file may have gone. */
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
