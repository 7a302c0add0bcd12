// Encryption, signatures and hashes through the gate.
import assert from "node:assert/strict"
import { createHash, createPublicKey, verify } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { inVault, store, use } from "./vault.ts"

test("a text and a file come back from their encrypted forms, which differ each time", async () => {
  await inVault(async (tmp) => {
    const first = await use("crypto_encrypt", { key: "letters", text: "dear reader" })
    assert.match(first.text, /^[\w+/=]+\n\[the key letters was made\]$/)
    const second = await use("crypto_encrypt", { key: "letters", text: "dear reader" })
    assert.match(second.text, /^[\w+/=]+$/)
    assert.notEqual(first.text.split("\n")[0], second.text)
    assert.equal((await use("crypto_decrypt", { key: "letters", text: second.text })).text, "dear reader")
    const bytes = Buffer.alloc(200_000, "binary\0\xff")
    tmp.write("picture.bin", bytes)
    assert.match(
      (await use("crypto_encrypt", { key: "letters", path: "picture.bin" })).text,
      /^picture\.bin\.enc written/,
    )
    assert.match(
      (await use("crypto_decrypt", { key: "letters", path: "picture.bin.enc" })).text,
      /"picture\.bin" exists already/,
    )
    await use("crypto_decrypt", { key: "letters", path: "picture.bin.enc", to: "again.bin" })
    assert.ok(readFileSync(join(tmp.path, "again.bin")).equals(bytes))
  })
})

test("encrypted data that is changed, cut off or of another key is refused, and nothing is written", async () => {
  await inVault(async (tmp) => {
    tmp.write("a.txt", "some text")
    await use("crypto_encrypt", { key: "one", path: "a.txt" })
    await use("crypto_encrypt", { key: "two", text: "x" })
    const file = join(tmp.path, "a.txt.enc")
    const whole = readFileSync(file)
    const decrypt = (key = "one") => use("crypto_decrypt", { key, path: "a.txt.enc", to: "b.txt" })
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole)
      changed[at]! ^= 1
      writeFileSync(file, changed)
      assert.match(
        (await decrypt()).text,
        /damaged or was changed|not what crypto_encrypt makes|encrypted with the key/,
      )
    }
    for (const length of [0, 10, 30, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length))
      assert.match((await decrypt()).text, /damaged or was changed|cut off/)
    }
    writeFileSync(file, whole)
    assert.match((await decrypt("two")).text, /It was encrypted with the key "one", not "two"/)
    await use("secrets_remove", { name: "one" })
    assert.match((await decrypt()).text, /The vault has no "one"/)
    await use("crypto_encrypt", { key: "one", text: "a new key" })
    assert.match((await decrypt()).text, /another key named "one" encrypted it/)
    assert.throws(() => readFileSync(join(tmp.path, "b.txt")), /ENOENT/)
    assert.match((await use("crypto_encrypt", { key: "one", path: "/etc/passwd" })).text, /outside/i)
  })
})

test("a signature is valid for its text and key alone, and its public key works elsewhere", async () => {
  await inVault(async (tmp) => {
    const { data } = await use("crypto_sign", { key: "release", text: "v1" })
    const { signature, publicKey } = data as { signature: string; publicKey: string }
    const check = async (args: Record<string, string>) =>
      (await use("crypto_verify", { signature, ...args })).text
    assert.equal(await check({ key: "release", text: "v1" }), "The signature is valid.")
    assert.equal(await check({ publicKey, text: "v1" }), "The signature is valid.")
    assert.equal(await check({ key: "release", text: "v2" }), "The signature is NOT valid.")
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), type: "spki", format: "der" })
    assert.ok(verify(null, Buffer.from("v1"), key, Buffer.from(signature, "base64")))
    assert.match(await check({ publicKey: "bm90IGEga2V5", text: "v1" }), /not an Ed25519 public key/)
    assert.match(await check({ signature: "abc", key: "release", text: "v1" }), /64 bytes in base64/)
    await store(tmp, "password", "a-password-not-a-key")
    assert.match(
      (await use("crypto_sign", { key: "password", text: "x" })).text,
      /is a secret for secrets_use, not a key/,
    )
    const shown = await use("secrets_use", { name: "release", env: "A_KEY", command: "true" })
    assert.match(shown.text, /is a key \(ed25519\) for the crypto tools/)
    assert.match((await use("secrets_list")).text, /^password: secret.*\nrelease: ed25519, /)
  })
})

test("hashes of a text and of a file are those of Node", async () => {
  await inVault(async (tmp) => {
    const bytes = Buffer.alloc(300_000, "hash me")
    tmp.write("large.bin", bytes)
    for (const algorithm of ["sha256", "sha512", "blake2b512"]) {
      const expected = createHash(algorithm).update(bytes).digest("hex")
      assert.equal(
        (await use("crypto_hash", { algorithm, path: "large.bin" })).text,
        `${algorithm} ${expected}`,
      )
    }
    assert.equal(
      (await use("crypto_hash", { text: "" })).text,
      `sha256 ${createHash("sha256").digest("hex")}`,
    )
    assert.equal((await use("crypto_hash", { text: "", path: "large.bin" })).status, "error")
    assert.equal((await use("crypto_hash", { algorithm: "md5", text: "x" })).status, "error")
    assert.match((await use("crypto_hash", { path: "." })).text, /is a folder/)
  })
})
