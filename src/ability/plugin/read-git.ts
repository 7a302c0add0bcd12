// Reads the files of a git repository without checking it out: a bare clone of one commit, then its objects. No hook,
// filter, submodule or attribute of the repository runs or counts.
import { rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, posix } from "node:path"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/process.ts"
import { addFile, Refused, type Tree } from "./tree.ts"

const maxTree = 64 << 20
const timeout = 300_000
/** Git needs these to reach a repository: keys of ssh, a helper for passwords, a proxy. */
const passed =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|XDG_.+|SSH_AUTH_SOCK|SSH_AGENT_PID|SSL_CERT_FILE|SSL_CERT_DIR|(HTTPS?|ALL|NO)_PROXY)$/i
const off = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "protocol.ext.allow=never"]

/** `ref`: a branch or a tag; default: the default branch. */
export async function readGit(
  address: string,
  ref: string | undefined,
): Promise<{ tree: Tree; commit: string }> {
  if (address.startsWith("-") || ref?.startsWith("-")) throw new Refused(`${address} is no address of git`)
  const folder = await mkdtemp(join(tmpdir(), "vitamin-plugin-"))
  try {
    const branch = ref === undefined ? [] : ["--branch", ref]
    const clone = ["clone", "--quiet", "--bare", "--depth", "1", "--no-tags", "--template=", ...branch]
    await git(folder, [...clone, "--", address, "repository"])
    const inside = join(folder, "repository")
    const commit = (await git(inside, ["rev-parse", "HEAD^{commit}"])).toString().trim()
    return { tree: await readTree(inside, commit), commit }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function readTree(folder: string, commit: string): Promise<Tree> {
  const tree: Tree = new Map()
  const links: { path: string; target: string }[] = []
  const listed = await git(folder, ["ls-tree", "-r", "-z", commit])
  const entries = listed.toString().split("\0").filter(Boolean)
  const wanted = entries.flatMap((line) => {
    const [, mode, , hash, path] = /^(\d+) (\w+) ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? []
    return mode !== undefined && mode !== "160000" ? [{ mode, hash: hash!, path: path! }] : []
  })
  const contents = await readObjects(
    folder,
    wanted.map(({ hash }) => hash),
  )
  for (const [i, { mode, path }] of wanted.entries()) {
    const bytes = contents[i]!
    if (mode === "120000") links.push({ path, target: bytes.toString() })
    else addFile(tree, path, { bytes, isExecutable: mode === "100755" })
  }
  for (const { path, target } of links) {
    const file = tree.get(posix.normalize(posix.join(dirname(path), target)))
    if (!file || posix.isAbsolute(target))
      throw new Refused(`${path} is a link to ${target}, which is no file of the plugin`)
    addFile(tree, path, file)
  }
  return tree
}

/** The contents of objects, in the order of their names. */
async function readObjects(folder: string, hashes: string[]): Promise<Buffer[]> {
  if (!hashes.length) return []
  const all = await git(folder, ["cat-file", "--batch"], `${hashes.join("\n")}\n`)
  const found: Buffer[] = []
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(10, at)
    const size = Number(all.subarray(at, end).toString().split(" ")[2])
    if (!Number.isSafeInteger(size)) throw new Refused("git does not have all files")
    found.push(Buffer.from(all.subarray(end + 1, end + 1 + size)))
    at = end + 1 + size + 1
  }
  return found
}

function git(cwd: string, args: string[], input?: string): Promise<Buffer> {
  const own = Object.fromEntries(
    Object.entries(Env.forChild(["SSH_AUTH_SOCK"])).filter(([name]) => passed.test(name)),
  )
  const env = {
    ...own,
    GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
  }
  return new Promise((resolve, reject) => {
    const child = childProcess().execFile(
      "git",
      [...off.flatMap((pair) => ["-c", pair]), ...args],
      { cwd, env, timeout, maxBuffer: maxTree + (1 << 20), encoding: "buffer" },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout)
        const said = stderr.toString().trim().split("\n").slice(-3).join(" ")
        reject(new Refused(`git ${args[0]} failed: ${said || error.message}`))
      },
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })
}
