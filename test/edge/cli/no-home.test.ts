// An unwritable home folder: each command says which folder it needs, and what to set instead. (A file in place of the
// folder stops root too; a read-only folder does not.)
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function noHome(tmp: Tmp) {
  const file = tmp.write("no-folder", "")
  return {
    XDG_DATA_HOME: file,
    XDG_STATE_HOME: file,
    XDG_CACHE_HOME: file,
    XDG_CONFIG_HOME: file,
    HOME: file,
  }
}

test("vitamin serve says that its state folder cannot be written, and what to set", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["serve", "--port", "0"], noHome(tmp))
  assert.equal(code, 1)
  assert.match(
    err,
    /^vitamin: The state folder \S+no-folder\/vitamin, .* cannot be written \(E\w+\)\. .*XDG_STATE_HOME/m,
  )
})

test("vitamin run says that its data folder cannot be written, and what to set", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["run", "--model", "local/rules", "list the files"], noHome(tmp))
  assert.equal(code, 1)
  assert.match(err, /could not be written: .*The data folder is \S+no-folder\/vitamin: .*VITAMIN_DATA_DIR/)
})

test("vitamin session list and --version work in an unwritable home; doctor names the folders", async () => {
  await using tmp = await tmpdir()
  assert.equal((await vitamin(tmp, ["--version"], noHome(tmp))).code, 0)
  const list = await vitamin(tmp, ["session", "list"], noHome(tmp))
  assert.equal(list.code, 0, list.err)
  const doctor = await vitamin(tmp, ["doctor"], noHome(tmp))
  assert.equal(doctor.code, 1)
  assert.match(doctor.out, /bad +data folder .*\n.*VITAMIN_DATA_DIR/)
  assert.match(doctor.out, /bad +state folder .*\n.*XDG_STATE_HOME/)
})

for (const variable of ["XDG_STATE_HOME", "XDG_DATA_HOME", "VITAMIN_DATA_DIR"])
  test(`${variable} below /proc is refused with a clear error`, async () => {
    await using tmp = await tmpdir({ git: true })
    const { code, err } = await vitamin(tmp, ["run", "what can you do?"], { [variable]: "/proc/none" })
    assert.equal(code, 1, err)
    assert.match(
      err,
      new RegExp(`^vitamin: ${variable} is /proc/none, and no folder can be made below /proc`, "m"),
    )
  })

test("with XDG_CACHE_HOME below /proc, a run continues without a cache, and doctor reports it", async () => {
  await using tmp = await tmpdir({ git: true })
  // The compile cache of the test run would hide that vitamin's own is not created.
  const none = { XDG_CACHE_HOME: "/proc/none", NODE_COMPILE_CACHE: "" }
  const run = await vitamin(tmp, ["run", "what can you do?"], none)
  assert.equal(run.code, 0, run.err)
  const doctor = await vitamin(tmp, ["doctor"], none)
  assert.match(doctor.out, /^bad .*XDG_CACHE_HOME is \/proc\/none, and no folder can be made below \/proc/m)
})
