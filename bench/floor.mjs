// The least that an honest loop can do: fetch, parse the stream, do what is asked, ask again. No records, no checks.
// Plain JavaScript, so that it does not pay for types to be taken off.
//   node bench/floor.mjs http://127.0.0.1:PORT/v1 "prompt"
import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { promisify } from "node:util"

const run = promisify(execFile)
const [base, prompt] = process.argv.slice(2)
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const tools = [{ type: "function", function: { name: "read", description: "Read a file", parameters } }]
const messages = [
  { role: "system", content: "You are a coding agent." },
  { role: "user", content: prompt },
]

for (;;) {
  const said = await ask()
  messages.push(said)
  if (!said.tool_calls) break
  for (const { id, function: call } of said.tool_calls)
    messages.push({
      role: "tool",
      tool_call_id: id,
      content: await use(call.name, JSON.parse(call.arguments)),
    })
}
process.stdout.write("\n")

async function use(name, { path, edits, command }) {
  if (name === "bash") return (await run("bash", ["-c", command])).stdout
  const text = await readFile(path, "utf8")
  if (name === "read") return text
  await writeFile(path, text.split(edits[0].oldText).join(edits[0].newText))
  return "done"
}

async function ask() {
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer x" },
    body: JSON.stringify({ model: "m", stream: true, messages, tools }),
  })
  const calls = []
  const decoder = new TextDecoder()
  let content = ""
  let rest = ""
  for await (const bytes of response.body) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n")
    rest = blocks.pop()
    for (const block of blocks) {
      const data = block.slice(6)
      const delta = data === "[DONE]" ? undefined : JSON.parse(data).choices[0]?.delta
      if (delta?.content) {
        content += delta.content
        process.stdout.write(delta.content)
      }
      for (const call of delta?.tool_calls ?? []) calls.push(call)
    }
  }
  return { role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) }
}
