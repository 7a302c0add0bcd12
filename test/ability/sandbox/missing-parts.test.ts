// A machine that cannot isolate, and a bubblewrap that does less than it is told: the start is refused, and nothing runs.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { chmodSync, existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { running, uniqueNap } from "../shell/running.ts"
import { whyNot } from "./world.ts"

const skip = whyNot("user") ?? false
const nap = uniqueNap()
const real = "/usr/bin/bwrap"

/** What a bubblewrap leaves out, as a change of its arguments in bash, and what is found out inside. */
const liars: Record<string, [change: string, found: RegExp]> = {
  "shares the network": [drop("--unshare-net"), /the network of this machine could be reached/],
  "filters no system calls": [drop("--seccomp", 1), /system calls are not filtered|a new user namespace/],
  "mounts everything writable": [`args=("\${args[@]/#--ro-bind/--bind}")`, /could be written/],
  "does not close what it should": [drop("--remount-ro", 1), /\/(dev|run|proc) could be written/],
  "keeps capabilities": [drop("--cap-drop", 1), /it has capabilities/],
  "does not replace /tmp": [
    `for i in "\${!args[@]}"; do [[ \${args[i]} = --tmpfs && \${args[i + 1]} = /tmp ]] && args[i + 1]=/mnt; done`,
    /a hidden file could be read|\/mnt could be written/,
  ],
}

for (const [what, [change, found]] of Object.entries(liars))
  test(`a bubblewrap that ${what} is refused from inside`, { skip: skip || !existsSync(real) }, () =>
    withBwrap(`args=("$@"); ${change}; exec ${real} "\${args[@]}"`, async (start) => {
      assert.match(await start(), found)
      assert.match(await start({ WAITS: "1" }), found, "beside a program that waits")
    }),
  )

test("a program that waits starts beside the attempts, and one that is refused is killed", {
  skip: skip || !existsSync(real),
}, async () => {
  const program = `sleep ${nap} & wait`
  await withBwrap(`args=("$@"); ${drop("--unshare-net")}; exec ${real} "\${args[@]}"`, async (start) => {
    assert.match(
      await start({ WAITS: "1", PROGRAM: program }),
      /the network of this machine could be reached/,
    )
    assert.deepEqual(running(nap), [])
  })
  await using tmp = await tmpdir()
  const env = { ...tmp.env, PATH: process.env.PATH, WAITS: "1" }
  const { stdout } = await promisify(execFile)(process.execPath, [starter, tmp.path], { env })
  assert.match(stdout, /"exitCode":0.*"isolated":true/)
  assert.deepEqual(readdirSync(tmp.path), ["ran.txt"])
})

test("an old bubblewrap is refused with the version that is needed", { skip }, () =>
  withBwrap(`echo "bwrap: Unknown option --disable-userns" >&2; exit 1`, async (start) => {
    assert.match(await start(), /Sandbox\.NotIsolated: .* bubblewrap is too old; version 0\.8 is needed/)
  }),
)

test("a bubblewrap that cannot be started is refused", { skip }, () =>
  withBwrap("", async (start, file) => {
    chmodSync(file, 0o644)
    assert.match(await start(), /Sandbox\.NotIsolated/)
  }),
)

test("a bubblewrap that never answers is given up", { skip }, () =>
  withBwrap(`exec sleep ${nap}`, async (start) => {
    assert.match(await start(), /Sandbox\.NotIsolated: .* it took longer than 10 s/)
    assert.deepEqual(running(nap), [])
  }),
)

test("a kernel without user namespaces is refused, and the settings are named", { skip }, async () => {
  await using tmp = await tmpdir()
  // A namespace of our own in which no other can be made.
  const closed = `echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"`
  const { stdout } = await promisify(execFile)(
    "unshare",
    ["-Ur", "sh", "-c", closed, "sh", process.execPath, starter, tmp.path],
    { env: { ...tmp.env, PATH: process.env.PATH } },
  )
  assert.match(
    stdout,
    /Sandbox\.NotIsolated: .* this kernel does not let it make user namespaces\. Allow them: sysctl/,
  )
  assert.deepEqual(readdirSync(tmp.path), [], "nothing is left in the folder")
})

const starter = join(import.meta.dirname, "starter.ts")

/** Drops an option, with the values that follow it. */
function drop(option: string, values = 0): string {
  return `kept=(); while (($#)); do if [[ $1 = ${option} ]]; then shift ${values + 1}; elif [[ $1 = -- ]]; then kept+=("$@"); break; else kept+=("$1"); shift; fi; done; args=("\${kept[@]}")`
}

/** Runs the starter with another bubblewrap before the real one on the PATH. It must not run the program. */
async function withBwrap(
  script: string,
  fn: (start: (more?: NodeJS.ProcessEnv) => Promise<string>, file: string) => Promise<void>,
): Promise<void> {
  await using tmp = await tmpdir()
  const file = tmp.write("../bin/bwrap", `#!/bin/bash\n${script}\n`)
  chmodSync(file, 0o755)
  const start = async (more: NodeJS.ProcessEnv = {}) => {
    const env = { ...tmp.env, ...more, PATH: `${join(file, "..")}:${process.env.PATH}` }
    const { stdout } = await promisify(execFile)(process.execPath, [starter, tmp.path], { env })
    return stdout
  }
  await fn(start, file)
  assert.deepEqual(readdirSync(tmp.path), [], "the program ran, or something is left")
}
