// The token file: created once, repaired if its mode is too open, refused if it is not a file of the owner.
import assert from "node:assert/strict"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Token from "#edge/server/token.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const modeOf = (path: string) => statSync(path).mode & 0o777

test("Token.load() creates a token of 256 bits that only the owner can read, and returns it again", async () => {
  await using _ = await tmpdir()
  const { token, file } = Token.load()
  assert.equal(Buffer.from(token, "base64url").length, 32)
  assert.equal(file, join(Global.state(), "token"))
  assert.equal(modeOf(file), 0o600)
  assert.equal(modeOf(Global.state()), 0o700)
  assert.deepEqual(Token.load(), { token, file })
  assert.equal(Secret.redact(`x ${token} y`), "x [server token] y")
  assert.deepEqual(readdirSync(Global.state()), ["token"])
})

test("Token.load() repairs the mode of a file and a folder that others could read", async () => {
  await using _ = await tmpdir()
  const { token, file } = Token.load()
  chmodSync(file, 0o644)
  chmodSync(Global.state(), 0o755)
  assert.equal(Token.load().token, token)
  assert.equal(modeOf(file), 0o600)
  assert.equal(modeOf(Global.state()), 0o700)
})

test("Token.load() replaces an invalid token", async () => {
  await using _ = await tmpdir()
  const { token, file } = Token.load()
  for (const content of ["", "short", "\0".repeat(64), "x".repeat(5000), `${token} ${token}`]) {
    writeFileSync(file, content)
    const made = Token.load().token
    assert.match(made, /^[\w-]{43}$/)
    assert.notEqual(made, token)
    assert.equal(readFileSync(file, "utf8"), `${made}\n`)
    assert.equal(modeOf(file), 0o600)
  }
})

test("Token.load() refuses anything but a regular file in a real folder", async () => {
  await using tmp = await tmpdir()
  const { file } = Token.load()
  rmSync(file)
  const elsewhere = tmp.write("elsewhere", "y".repeat(43))
  symlinkSync(elsewhere, file)
  assert.throws(() => Token.load(), Token.UnsafeFile)
  rmSync(file)
  symlinkSync(join(tmp.path, "not-there"), file)
  assert.throws(() => Token.load(), Token.UnsafeFile)
  assert.equal(existsSync(join(tmp.path, "not-there")), false)
  rmSync(file)
  mkdirSync(file)
  assert.throws(() => Token.load(), Token.UnsafeFile)
  rmSync(Global.state(), { recursive: true })
  mkdirSync(join(tmp.path, "folder"))
  symlinkSync(join(tmp.path, "folder"), Global.state())
  assert.throws(() => Token.load(), Token.UnsafeFile)
})
