// The tarball, installed by the real npm from a registry on loopback: as a dependency of a strict TypeScript project, and
// globally as a command.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "tsdown"
import { version } from "#util/version.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { image, noteText } from "../../fixture/images.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { npmRegistry } from "../../fixture/npm-registry.ts"
import { pack } from "../../fixture/pack.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

async function npmInstall(tmp: Tmp, args: string[]): Promise<void> {
  await using registry = await npmRegistry()
  const options = ["--no-audit", "--no-fund", "--loglevel=error", `--registry=${registry.url}`]
  const cache = `--cache=${join(tmp.path, "..", "npm-cache")}`
  await run("npm", ["install", ...options, cache, ...args], { cwd: tmp.path, env: tmp.env })
}

function exampleIn(document: string): string {
  const text = readFileSync(join(root, document), "utf8")
  return /```ts\n(import [\s\S]+?)```/.exec(text)![1]!
}

/** A program that depends on the package, and the size of what is installed for it. The tests write files of their own into
 * it. */
let project: Tmp
let size: number
before(async () => {
  project = await tmpdir()
  project.write("package.json", '{ "name": "embedder", "type": "module", "private": true }')
  await npmInstall(project, ["--omit=dev", pack()])
  size = sizeOf(join(project.path, "node_modules"))
})
after(() => project[Symbol.asyncDispose]())

test("README's library example compiles in a strict project without skipLibCheck, and runs", async () => {
  await using llm = await fakeLlm([text("A fixture.")])
  await compileExample("README.md")
  const { stdout } = await run(process.execPath, ["example.ts"], {
    cwd: project.path,
    env: { ...project.env, ...noServers, ...env(llm, "chat").variables },
  })
  assert.equal(stdout, "A fixture.\n")
  assert.equal(llm.requests.length, 1)
})

test("the example of docs/behavioral.md compiles in a strict project, and runs", async () => {
  await compileExample("docs/behavioral.md")
  const { stdout } = await run(process.execPath, ["example.ts"], { cwd: project.path, env: project.env })
  const outcome = "{ selected: false, blockedBy: [ 'in turn' ], waits: false }"
  assert.deepEqual(stdout.trimEnd().split("\n"), ["hot", "cold", "hot", "cold", outcome])
})

test("a program that bundles one small function does not bundle the runtime", async (t) => {
  // The whole package bundles to about 3.4 MB, zod with its languages to 0.36 MB, the others to 3 to 5 KB.
  const limits: [name: string, from: string, bytes: number][] = [
    ["extractMarkdownLinks", "@vitamin-agent/vitamin", 10_000],
    ["extractMarkdownLinks", "@vitamin-agent/vitamin/markdown-links", 10_000],
    ["behavioral", "@vitamin-agent/vitamin/behavioral", 10_000],
    ["parseFunctionCalls", "@vitamin-agent/vitamin", 10_000],
    ["parseFunctionCalls", "@vitamin-agent/vitamin/functiongemma", 10_000],
    ["z", "@vitamin-agent/vitamin", 450_000],
  ]
  for (const [name, from, limit] of limits) {
    project.write("program.js", `import { ${name} } from "${from}"\nconsole.log(typeof ${name})\n`)
    const size = await bundledSize(project)
    t.diagnostic(`${name} of ${from}: ${size} bytes`)
    assert.ok(size <= limit, `${name} of ${from}: ${size} bytes`)
  }
  project.write(
    "program.js",
    'import { Session } from "@vitamin-agent/vitamin"\nconsole.log(typeof Session)\n',
  )
  assert.ok((await bundledSize(project)) > 1_000_000, "the measure counts what is reached")
})

test("a zod 3 schema is refused in one line that says what to use", async () => {
  const installed = JSON.parse(
    readFileSync(join(project.path, "node_modules/@vitamin-agent/vitamin/package.json"), "utf8"),
  )
  assert.deepEqual(installed.peerDependencies, {
    "@ai-sdk/amazon-bedrock": "^5.0.101",
    "@ai-sdk/google-vertex": "^5.0.138",
    "@aws-sdk/credential-providers": "^3.1164.0",
    "@azure/identity": "^4.14.1",
    "axe-core": ">=4.14.0",
    "playwright-core": ">=1.64.0-0",
    unpdf: "^1.8.1",
    zod: "^4.0.0",
  })
  assert.deepEqual(installed.peerDependenciesMeta, {
    "@ai-sdk/amazon-bedrock": { optional: true },
    "@ai-sdk/google-vertex": { optional: true },
    "@aws-sdk/credential-providers": { optional: true },
    "@azure/identity": { optional: true },
    "axe-core": { optional: true },
    "playwright-core": { optional: true },
    unpdf: { optional: true },
  })
  const program = (from: string) => `import { Tool } from "@vitamin-agent/vitamin"
import { z } from "${from}"
try {
  Tool.define("greet", () => ({ description: "greets", parameters: z.object({ name: z.string() }), execute: async () => "hi" }))
  console.log("defined")
} catch (error) {
  console.log(error.message)
}
`
  const says: string[] = []
  for (const from of ["zod", "@vitamin-agent/vitamin", "zod/v3"]) {
    project.write("program.js", program(from))
    says.push((await run(process.execPath, ["program.js"], { cwd: project.path, env: project.env })).stdout)
  }
  assert.deepEqual(says, [
    "defined\n",
    "defined\n",
    "The parameters cannot be shown to a model: they were made with zod 3. " +
      'Use zod 4: import { z } from "@vitamin-agent/vitamin"\n',
  ])
})

test("npm install -g of the tarball gives the command vitamin", async () => {
  await using tmp = await tmpdir()
  const prefix = join(tmp.path, "..", "prefix")
  await npmInstall(tmp, ["-g", `--prefix=${prefix}`, pack()])
  const command = join(prefix, "bin", "vitamin")
  const environment = { ...tmp.env, ...noServers }
  const shown = await run(command, ["--version"], { cwd: tmp.path, env: environment })
  assert.equal(shown.stdout, `${version}\n`)
  tmp.write("notes.txt", "one\n")
  const answered = await run(command, ["run", "read notes.txt"], { cwd: tmp.path, env: environment })
  assert.match(answered.stdout, /one/)
})

test("a production install takes at most 60 MB and reads text in images with its own files", async (t) => {
  t.diagnostic(`${(size / 1e6).toFixed(1)} MB`)
  assert.ok(size <= 60e6, `${size} bytes`)
  project.write("note.png", image("note.png"))
  const { stdout } = await run(
    "node_modules/.bin/vitamin",
    ["run", "--image", "note.png", "what does it say"],
    {
      cwd: project.path,
      env: { ...project.env, ...noServers },
    },
  )
  assert.equal(stdout.trim(), `[text of image note.png]\n${noteText}`)
})

/** Write the example of a document to example.ts, and check its types without skipLibCheck. */
async function compileExample(document: string): Promise<void> {
  for (const name of ["@types/node", "undici-types"])
    cpSync(join(root, "node_modules", name), join(project.path, "node_modules", name), { recursive: true })
  project.write("example.ts", exampleIn(document))
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: "nodenext",
    target: "es2024",
    types: ["node"],
    noEmit: true,
  }
  project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["example.ts"] }))
  const tsc = join(root, "node_modules/.bin/tsc")
  const compiled = await run(tsc, ["-p", "."], { cwd: project.path }).catch((error) => error)
  assert.equal(compiled.stdout, "")
}

/** The size of a minified bundle of program.js, with the chunks that it loads later. */
async function bundledSize(tmp: Tmp): Promise<number> {
  const outDir = join(tmp.path, "bundle")
  await build({
    cwd: tmp.path,
    config: false,
    entry: { program: join(tmp.path, "program.js") },
    outDir,
    platform: "node",
    minify: true,
    dts: false,
    logLevel: "silent",
    fixedExtension: false,
    deps: { alwaysBundle: [/^(?!node:)/] },
  })
  const reached = new Set(["program.js"])
  let size = 0
  for (const file of reached) {
    const code = readFileSync(join(outDir, file), "utf8")
    size += code.length
    for (const [, name] of code.matchAll(/(?:from|import\(?)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
      reached.add(name!)
  }
  return size
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
