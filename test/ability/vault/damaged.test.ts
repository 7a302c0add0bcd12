// Vault files that are damaged, changed, or opened with the wrong passphrase: a clear error, and the file stays.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { mkdirSync, rmSync, statSync, symlinkSync } from "node:fs"
import { test } from "node:test"
import { elsewhere, inVault, passphrase, readVault, store, use, vaultFile, writeVault } from "./vault.ts"

const value = "value-of-the-first-secret"

test("a vault with any byte flipped is refused and left as it is", async () => {
  await inVault(async (tmp) => {
    assert.equal((await store(tmp, "first", value)).status, "success")
    const whole = readVault(tmp)
    for (let at = 0; at < whole.length; at++) {
      const flipped = Buffer.from(whole)
      flipped[at]! ^= 1 << (at % 7)
      writeVault(tmp, flipped)
      const { status, text } = await use("secrets_list")
      assert.equal(status, "error", `byte ${at}`)
      assert.match(text, /The vault .* cannot be used: it is damaged .* left as it is\. Restore it/)
      assert.ok(readVault(tmp).equals(flipped))
    }
    const set = await store(tmp, "second", "value-of-the-second")
    assert.match(set.text, /cannot be used/)
    writeVault(tmp, whole)
    assert.match((await use("secrets_list")).text, /^first: secret, 25 bytes/)
  })
})

test("a vault that was changed on purpose, with a right checksum, is refused in every part", async () => {
  await inVault(async (tmp) => {
    await store(tmp, "first", value)
    const [head, body] = readVault(tmp).toString().split("\n") as [string, string]
    const { lock, nonce } = JSON.parse(head)
    const other = Buffer.alloc(16, 1).toString("base64")
    const heads: [object, RegExp][] = [
      [{ vault: 2, lock, nonce }, /a newer vitamin wrote it \(version 2\)/],
      [{ vault: 1, lock: { ...lock, salt: other }, nonce }, /the passphrase is wrong, or somebody changed/],
      [{ vault: 1, lock, nonce: other.slice(0, 16) }, /somebody changed/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 14, r: 8, p: 1 } }, nonce }, /somebody changed/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 30, r: 8, p: 1 } }, nonce }, /its header is not/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 18, r: 8, p: 1 } }, nonce }, /somebody changed/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 19, r: 8, p: 1 } }, nonce }, /its header is not/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 18, r: 9, p: 1 } }, nonce }, /its header is not/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 1 << 14, r: 8, p: 5 } }, nonce }, /its header is not/],
      [{ vault: 1, lock: { ...lock, scrypt: { N: 100_000, r: 8, p: 1 } }, nonce }, /its header is not/],
      [{ vault: 1, lock: { from: "nowhere" }, nonce }, /its header is not/],
      [{ nonce, lock, vault: 1 }, /somebody changed/],
    ]
    const bytes = Buffer.from(body, "base64")
    const bodies = [0, 40, bytes.length - 1].map((at) => {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      return changed.toString("base64")
    })
    const files: [string, string, RegExp][] = [
      ...heads.map(([one, says]) => [JSON.stringify(one), body, says] as [string, string, RegExp]),
      ...bodies.map((one) => [head, one, /somebody changed/] as [string, string, RegExp]),
      [head, "", /somebody changed/],
      ["", "", /its header is not/],
    ]
    for (const [one, two, says] of files) {
      const text = `${one}\n${two}\n${createHash("sha256").update(`${one}\n${two}\n`).digest("hex")}\n`
      writeVault(tmp, text)
      const result = await use("secrets_list")
      assert.match(result.text, says)
      assert.ok(!result.text.includes(value))
      assert.equal(readVault(tmp).toString(), text)
    }
  })
})

test("a vault that is empty, cut off, a link or a folder is refused and left as it is", async () => {
  await inVault(async (tmp) => {
    await store(tmp, "first", value)
    const whole = readVault(tmp)
    for (const length of [0, 1, 20, 200, whole.length - 66, whole.length - 1]) {
      writeVault(tmp, whole.subarray(0, length))
      assert.match((await use("secrets_list")).text, length ? /it is damaged/ : /it is empty/)
      assert.equal(readVault(tmp).length, length)
    }
    rmSync(vaultFile(tmp))
    symlinkSync(tmp.write("elsewhere", whole), vaultFile(tmp))
    assert.match((await use("secrets_list")).text, /cannot be used: it is a symbolic link/)
    rmSync(vaultFile(tmp))
    mkdirSync(vaultFile(tmp))
    assert.match((await use("secrets_list")).text, /cannot be used: it is not a plain file/)
  })
})

test("the wrong passphrase opens nothing and changes nothing, the right one still opens the vault", async () => {
  await inVault(async (tmp) => {
    await store(tmp, "first", value)
    const whole = readVault(tmp)
    assert.equal(statSync(vaultFile(tmp)).mode & 0o777, 0o600)
    await elsewhere(tmp, async () => {
      process.env.VITAMIN_VAULT_PASSPHRASE = "wrong horse battery"
      for (const result of [
        await use("secrets_list"),
        await use("secrets_remove", { name: "first" }),
        await use("crypto_sign", { key: "new", text: "x" }),
      ])
        assert.match(result.text, /the passphrase is wrong, or somebody changed the file/)
      assert.ok(readVault(tmp).equals(whole))
      delete process.env.VITAMIN_VAULT_PASSPHRASE
      assert.match(
        (await use("secrets_list")).text,
        /The vault is locked: no passphrase was given\. .*PASSPHRASE/,
      )
      process.env.VITAMIN_VAULT_PASSPHRASE = passphrase
      assert.match((await use("secrets_list")).text, /^first: secret/)
    })
  })
})
