// Proofs of the keys about language servers and formatters. The server is test/ability/lsp/odd-server.ts, which reports the
// word BAD and writes what it receives to a file.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, text } from "../../../fixture/fake-llm.ts"
import { reachable } from "./models.ts"
import type { Proof, World } from "./proof.ts"

const program = join(import.meta.dirname, "../../../ability/lsp/odd-server.ts")
const logOf = ({ tmp }: World) => join(tmp.env.HOME!, "odd.log")
const received = (world: World) => (existsSync(logOf(world)) ? readFileSync(logOf(world), "utf8") : "")

const commands = [["run", "--trust", "--yes", "go"]]
const odd = (world: World) => ({
  command: [process.execPath, program, "plain"],
  extensions: { ".odd": "odd" },
  env: { ODD_LOG: logOf(world) },
  root: ["odd.toml"],
  initialization: { depth: 3 },
  settings: { odd: { width: 7 } },
})
const serving: Omit<Extract<Proof, { seen: unknown }>, "seen" | "expected"> = {
  config: (world) => ({ ...reachable(world), lsp: { wait: 30_000, servers: { odd: odd(world) } } }),
  prepare: ({ tmp }) => {
    tmp.write("inner/odd.toml", "")
    tmp.write("inner/a.odd", "fine\n")
  },
  model: [call("edit", { path: "inner/a.odd", edits: [{ oldText: "fine", newText: "BAD" }] }), text("Done.")],
  commands,
}
const reported = ({ llm }: World) => /BAD is bad/.test(llm.requests[1]?.raw ?? "")

const formatting: Omit<Extract<Proof, { seen: unknown }>, "seen" | "expected"> = {
  config: (world) => ({
    ...reachable(world),
    formatter: {
      mine: { command: [formatterOf(world), "$FILE"], extensions: [".odd"], env: { MINE: "formatted" } },
    },
  }),
  prepare: (world) => {
    writeFileSync(formatterOf(world), '#!/bin/sh\necho "$MINE" >> "$1"\n')
    chmodSync(formatterOf(world), 0o755)
    world.tmp.write("a.odd", "fine\n")
  },
  model: [call("edit", { path: "a.odd", edits: [{ oldText: "fine", newText: "good" }] }), text("Done.")],
  commands,
}
const contentOf = ({ tmp }: World) => readFileSync(join(tmp.path, "a.odd"), "utf8")

/** A project that uses ruff, which upper-cases its files. */
const withRuff = ({ tmp }: World) => {
  mkdirSync(join(tmp.path, ".venv/bin"), { recursive: true })
  tmp.write("ruff.toml", "")
  tmp.write("a.py", "fine\n")
  writeFileSync(join(tmp.path, ".venv/bin/ruff"), '#!/bin/sh\necho FORMATTED > "$3"\n', { mode: 0o755 })
}
const edits = {
  prepare: withRuff,
  model: [call("edit", { path: "a.py", edits: [{ oldText: "fine", newText: "good" }] }), text("Done.")],
  commands,
  seen: ({ tmp }: World) => readFileSync(join(tmp.path, "a.py"), "utf8"),
  expected: "good\n",
}

export const languageProofs: Record<string, Proof> = {
  lsp: {
    ...serving,
    config: (world) => ({ ...reachable(world), lsp: false }),
    prepare: pyright,
    model: [call("edit", { path: "a.py", edits: [{ oldText: "fine", newText: "BAD" }] }), text("Done.")],
    seen: received,
    expected: "",
  },
  "lsp.wait": {
    ...serving,
    config: (world) => ({ ...reachable(world), lsp: { wait: 0, servers: { odd: odd(world) } } }),
    other: 30_000,
    seen: ({ llm }) => /are not ready/.test(llm.requests[1]?.raw ?? ""),
    expected: true,
  },
  "lsp.servers.*": {
    ...serving,
    config: (world) => ({ ...reachable(world), lsp: { servers: { python: false } } }),
    prepare: pyright,
    model: [call("edit", { path: "a.py", edits: [{ oldText: "fine", newText: "BAD" }] }), text("Done.")],
    seen: received,
    expected: "",
  },
  "lsp.servers.*.command": { ...serving, other: ["/bin/false"], seen: reported, expected: true },
  "lsp.servers.*.extensions": { ...serving, other: { ".other": "odd" }, seen: reported, expected: true },
  "lsp.servers.*.env": { ...serving, seen: (world) => received(world) !== "", expected: true },
  "lsp.servers.*.root": {
    ...serving,
    seen: (world) => /"rootPath":"[^"]*\/inner"/.test(received(world)),
    expected: true,
  },
  "lsp.servers.*.initialization": {
    ...serving,
    seen: (world) => /"initializationOptions":\{"depth":3\}/.test(received(world)),
    expected: true,
  },
  "lsp.servers.*.settings": {
    ...serving,
    seen: (world) => /"settings":\{"odd":\{"width":7\}\}/.test(received(world)),
    expected: true,
  },
  formatter: { ...edits, config: (world) => ({ ...reachable(world), lsp: false, formatter: false }) },
  "formatter.*": {
    ...edits,
    config: (world) => ({ ...reachable(world), lsp: false, formatter: { ruff: false } }),
  },
  "formatter.*.command": {
    ...formatting,
    other: ["true", "$FILE"],
    seen: contentOf,
    expected: "good\nformatted\n",
  },
  "formatter.*.extensions": {
    ...formatting,
    other: [".other"],
    seen: contentOf,
    expected: "good\nformatted\n",
  },
  "formatter.*.env": { ...formatting, seen: contentOf, expected: "good\nformatted\n" },
}

function formatterOf({ tmp }: World): string {
  return join(tmp.env.HOME!, "format.sh")
}

/** A project whose `pyright-langserver` is the odd server. */
function pyright(world: World): void {
  const { tmp } = world
  mkdirSync(join(tmp.path, ".venv/bin"), { recursive: true })
  tmp.write("a.py", "fine\n")
  const script = `#!/bin/sh\nODD_LOG=${logOf(world)} exec ${process.execPath} ${program} plain\n`
  writeFileSync(join(tmp.path, ".venv/bin/pyright-langserver"), script, { mode: 0o755 })
}
