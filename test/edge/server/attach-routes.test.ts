// Files attached to a prompt over HTTP, with a real `vitamin serve`.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { serving } from "../../fixture/cli.ts"
import { env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function inServer(
  replies: Reply[],
  fn: (world: {
    tmp: Tmp
    requests: { raw: string }[]
    prompt(body: object): Promise<number>
    send(path: string, body: object): Promise<Response>
    post(path: string, body: object): Promise<number>
    get<T>(path: string): Promise<T>
    files(): Promise<Message.Of<"file_reference">["data"][]>
  }) => Promise<void>,
) {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(replies)
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const send = (path: string, body: object) =>
    fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  const { id } = (await (await send("/session", {})).json()) as { id: string }
  const get = async <T>(path: string) => (await (await fetch(url + path, { headers })).json()) as T
  await fn({
    tmp,
    requests: llm.requests,
    prompt: async (body) => (await send(`/session/${id}/message`, body)).status,
    send,
    post: async (path, body) => (await send(path, body)).status,
    get,
    files: async () =>
      (await get<Message.Info[]>(`/session/${id}/message`)).flatMap((message) =>
        message.type === "file_reference" ? [message.data] : [],
      ),
  })
}

test("POST /session/:id/message attaches files that are named by @path in the text or by parts", async () => {
  await inServer([text("ok")], async ({ tmp, prompt, requests, files }) => {
    tmp.write("src/app.ts", "one\ntwo\nthree\n")
    const parts = [
      { type: "text", text: "and more words" },
      { type: "file_reference", path: "src/app.ts", startLine: 2, endLine: 2 },
      { type: "file_reference", path: join(tmp.path, "src/app.ts"), startLine: 3 },
      { type: "file_reference", path: "gone.ts" },
    ]
    assert.equal(await prompt({ text: "see @README.md:1", parts }), 200)
    assert.deepEqual(
      (await files()).map(({ status, content, error }) => [status, content ?? error?.slice(0, 21)]),
      [
        ["resolved", "2\ttwo"],
        ["resolved", "3\tthree"],
        ["failed", "there is no such file"],
        ["resolved", "1\t# fixture"],
      ],
    )
    assert.match(
      requests[0]!.raw,
      /see @README[\s\S]*and more words[\s\S]*2\\ttwo[\s\S]*3\\tthree[\s\S]*# fixture/,
    )
  })
})

test("a prompt over HTTP needs text or something attached, and parts of a known kind", async () => {
  await inServer([text("ok")], async ({ prompt, files }) => {
    assert.equal(await prompt({ parts: [] }), 400)
    assert.equal(await prompt({ text: " " }), 400)
    assert.equal(await prompt({ parts: [{ type: "file_reference" }] }), 400)
    assert.equal(await prompt({ parts: [{ type: "video", path: "x" }] }), 400)
    const many = Array.from({ length: 501 }, (_, i) => ({ type: "file_reference", path: `${i}.txt` }))
    assert.equal(await prompt({ parts: many }), 400)
    assert.equal(await prompt({ parts: [{ type: "file_reference", path: "README.md" }] }), 200)
    assert.equal((await files()).length, 1)
  })
})

test("POST /session/:id/message accepts the largest image, and refuses a larger body with advice", async () => {
  await inServer([text("ok")], async ({ prompt, get, send }) => {
    const part = (length: number) => ({
      type: "image",
      source: { kind: "base64", value: Buffer.alloc(length).toString("base64") },
    })
    assert.equal(await prompt({ text: "look", parts: [part(20_000_000)] }), 200)
    const [session] = await get<{ id: string }[]>("/session")
    const path = `/session/${session!.id}/message`
    const large = await send(path, { text: "look", parts: [part(20_000_000), part(5_000_000)] })
    assert.equal(large.status, 413)
    assert.match(await large.text(), /larger than 29360128 bytes. .* by its path/)
    assert.equal((await send("/session", { title: "x".repeat(11_000_000) })).status, 413)
  })
})

test("a prompt over HTTP asks about a file outside, and refresh reads changed files again", async () => {
  await inServer([text("one"), text("two")], async ({ tmp, prompt, post, get, files, requests }) => {
    const path = join(dirname(tmp.path), "outside.txt")
    writeFileSync(path, "from outside\n")
    tmp.write("a.txt", "old\n")
    const answered = prompt({ text: "@a.txt", parts: [{ type: "file_reference", path }] })
    let questions: { id: string; needs: { target: string }[] }[] = []
    for (let tries = 0; !questions.length && tries < 3_000; tries++) {
      questions = await get("/permission/pending")
      if (!questions.length) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.equal(questions[0]?.needs[0]?.target, path)
    assert.equal(await post(`/permission/${questions[0]!.id}/respond`, { reply: "reject" }), 200)
    assert.equal(await answered, 200)
    assert.doesNotMatch(requests[0]!.raw, /from outside/)
    tmp.write("a.txt", "new\n")
    assert.equal(await prompt({ text: "again", refresh: true, asks: "once" }), 200)
    assert.deepEqual(
      (await files()).map(({ content }) => content),
      ["1\tfrom outside", "1\tnew"],
    )
    assert.match(requests[1]!.raw, /from outside[\s\S]*1\\tnew/)
  })
})
