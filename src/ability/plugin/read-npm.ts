// Reads a package of an npm registry, or a .tgz file. npm itself fetches it, with the person's settings, and checks it
// against the registry; no script of the package runs, and nothing is unpacked by npm.
import { createHash } from "node:crypto"
import { readFileSync, rmSync, statSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/process.ts"
import { readTar } from "./read-tar.ts"
import { Refused, type Tree } from "./tree.ts"

type Package = { tree: Tree; integrity: string }

const Packed = z.array(z.object({ filename: z.string(), integrity: z.string() })).length(1)
const maxPacked = 64 << 20
/** No part begins with a dot or a hyphen: npm would take it for a folder or an option. */
const isSpec = /^(@\w[\w.~-]*\/)?\w[\w.~-]*(@[\w~^<>=*][\w.~^<>=*+-]*)?$/

/** `spec`: a name, with `@version` or without. */
export async function readNpm(spec: string): Promise<Package> {
  if (!isSpec.test(spec)) throw new Refused(`"${spec}" is no name of an npm package`)
  const folder = await mkdtemp(join(tmpdir(), "vitamin-plugin-"))
  try {
    const args = ["pack", spec, "--json", "--ignore-scripts", "--pack-destination", folder]
    const { stdout } = await promisify(childProcess().execFile)("npm", [...args, "--loglevel=error"], {
      cwd: folder,
      // npm reads the keys of its registries from these variables too.
      env: Env.all(),
      timeout: 300_000,
      maxBuffer: 16 << 20,
    }).catch((error) => {
      const said = String(error.stderr ?? error.message).match(/npm (?:error|ERR!) (?!code)(.*)/)?.[1]
      throw new Refused(`npm cannot fetch ${spec}: ${said ?? String(error.message).split("\n")[0]}`)
    })
    const [packed] = Packed.parse(JSON.parse(stdout))
    const file = join(folder, packed!.filename.replace("@", "").replace("/", "-"))
    return readTgz(file, packed!.integrity)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `expected`: the integrity that the registry has for it. */
export function readTgz(file: string, expected?: string): Package {
  const { size } = statSync(file)
  if (size > maxPacked) throw new Refused(`${file} has ${size} bytes; the limit is ${maxPacked}`)
  const bytes = readFileSync(file)
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`
  if (expected?.startsWith("sha512-") && expected !== integrity)
    throw new Refused(`the package does not have the integrity ${expected}`)
  return { tree: readTar(bytes), integrity }
}
