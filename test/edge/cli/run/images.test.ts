// Images through the installed command and over HTTP: real pictures, the real OCR engine, a loopback model.
import assert from "node:assert/strict"
import { cpSync, existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { bodiesOf } from "../../../fixture/api-of.ts"
import { run } from "../../../fixture/child.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { image, noteText } from "../../../fixture/images.ts"
import { noServers } from "../../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const dist = fileURLToPath(new URL("../../../../dist", import.meta.url))
const seeing = { "fake-model": { input: ["text", "image"] } }
const withVision = { VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models: seeing } } }) }

test("vitamin run --image reads an image by OCR for a model without vision, reports it, and exits at once", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("An invoice.")])
  tmp.write("note.png", image("note.png"))
  const args = ["run", "--image", "note.png", "what does it say"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "An invoice.")
  assert.ok(JSON.stringify(llm.requests[0]!.body).includes(JSON.stringify(noteText).slice(1, -1)))
  assert.match(err, /^vitamin: .*fake-model takes no images.*OCR/m)
  assert.match(err, /^· attached note\.png \(ocr\)$/m)
  assert.deepEqual(readdirSync(tmp.path), ["note.png"])
})

test("vitamin run --image sends the image to a model with vision, and with --image-mode ocr only its text", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("An invoice."), text("An invoice."), text("I see nothing.")])
  tmp.write("note.png", image("note.png"))
  const variables = { ...env(llm, "chat").variables, ...withVision }
  const seen = await vitamin(tmp, ["run", "--image", "note.png", "what is it"], variables)
  assert.equal(seen.code, 0, seen.err)
  assert.ok(llm.requests[0]!.raw.includes(`data:image/png;base64,${image("note.png").toString("base64")}`))
  assert.match(seen.err, /^· attached note\.png \(vision\)$/m)
  const read = await vitamin(
    tmp,
    ["run", "--image", "note.png", "--image-mode", "ocr", "what is it"],
    variables,
  )
  assert.equal(read.code, 0, read.err)
  assert.ok(llm.requests[1]!.raw.includes("Three boxes of green tea"))
  tmp.write("bad.png", image("note.png").subarray(0, 2_000))
  const bad = await vitamin(
    tmp,
    ["run", "--image", "bad.png", "--image", "none.png", "what is it"],
    variables,
  )
  assert.equal(bad.code, 2, bad.err)
  assert.match(bad.err, /--image bad\.png cannot be attached: .*breaks off/)
  assert.match(bad.err, /--image none\.png cannot be attached: .*does not exist/)
  assert.equal(llm.requests.length, 2)
})

test("vitamin run --image takes a data URL, and refuses URLs of other schemes", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("An invoice.")])
  const inline = `data:image/png;base64,${image("note.png").toString("base64")}`
  const run = (...args: string[]) =>
    vitamin(tmp, ["run", "--yes", ...args, "what is it"], { ...env(llm, "chat").variables, ...withVision })
  const other = await run("--image", inline, "--image", "ftp://example.com/a.png")
  assert.equal(other.code, 2, other.err)
  assert.match(other.err, /--image ftp:\/\/example\.com\/a\.png cannot be attached: .*http/)
  const { code, err } = await run("--image", inline)
  assert.equal(code, 0, err)
  assert.ok(llm.requests[0]!.raw.includes(inline))
  assert.match(err, /^· attached an image \(vision\)$/m)
})

test("without a configured model, the built-in one prints the text of an image", async () => {
  await using tmp = await tmpdir()
  tmp.write("note.png", image("note.png"))
  for (const words of [["what does it say"], []]) {
    const { code, out, err } = await vitamin(tmp, ["run", "--image", "note.png", ...words])
    assert.equal(code, 0, err)
    assert.equal(out, `[text of image note.png]\n${noteText}`)
  }
})

test("POST /session/:id/message takes images as bytes, and a bad one does not stop it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("An invoice.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = bodiesOf(server)
  const { id } = (await api("POST", "/session", {})) as { id: string }
  const part = (bytes: Buffer) => ({
    type: "image",
    source: { kind: "base64", value: bytes.toString("base64"), mimeType: "image/png" },
  })
  await api("POST", `/session/${id}/message`, {
    text: "what does it say",
    parts: [part(image("note.jpg")), part(Buffer.from("<html></html>"))],
  })
  assert.ok(llm.requests[0]!.raw.includes("Three boxes of green tea"))
  const messages = (await api("GET", `/session/${id}/message`)) as {
    type: string
    data: Record<string, unknown>
  }[]
  const images = messages.filter(({ type }) => type === "image").map(({ data }) => data)
  assert.deepEqual(
    images.map(({ state }) => state),
    ["done", "failed"],
  )
  assert.equal((images[0]!.source as { mimeType: string }).mimeType, "image/jpeg")
  assert.match(images[1]!.error as string, /a web page/)
})

/** A copy of the command whose OCR engine was not copied. */
async function withoutOcr(tmp: Tmp, args: string[], variables: Record<string, string>) {
  const folder = join(dirname(tmp.path), "alone")
  const filter = (path: string) => path !== join(dist, "ocr")
  if (!existsSync(folder)) cpSync(dist, join(folder, "dist"), { recursive: true, filter })
  await using child = run(process.execPath, [join(folder, "dist", "vitamin.js"), ...args], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...variables },
  })
  child.process.stdin?.end()
  const code = await child.exit
  return { code, out: child.lines.join("\n"), err: child.errors() }
}

test("without the OCR engine, neither the person nor the model is offered OCR, and doctor says how to install it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("I cannot see it."), text("I cannot read it.")])
  const { variables } = env(llm, "chat")
  tmp.write("note.png", image("note.png"))
  const args = ["run", "--image", "note.png", "what does it say"]
  const auto = await withoutOcr(tmp, args, variables)
  assert.equal(auto.code, 0, auto.err)
  assert.match(auto.err, /^✗ note\.png could not be attached: .*takes no images\. Choose one that does\.$/m)
  assert.doesNotMatch(auto.err, /ocr/i)
  assert.match(llm.requests[0]!.raw, /note.png could not be read/)
  assert.doesNotMatch(JSON.stringify(llm.requests[0]!.messages), /ocr/i)
  const asked = await withoutOcr(tmp, [...args, "--image-mode", "ocr"], variables)
  assert.match(
    asked.err,
    /^✗ note\.png could not be attached: .*no OCR engine.*Installing the package again/m,
  )
  const { out } = await withoutOcr(tmp, ["doctor"], variables)
  assert.match(out, /images +Text in images cannot be read.*Installing the package again/)
})
