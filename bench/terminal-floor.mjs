// The least that an interactive program does: raw mode, a prompt sign, the keys that are typed, and, when Enter is pressed, an
// answer of the model as it streams.
//   node bench/terminal-floor.mjs http://127.0.0.1:PORT/v1
const [base] = process.argv.slice(2)
process.stdin.setRawMode(true)
process.stdout.write("> ")
process.stdin.on("data", (keys) => {
  process.stdout.write(keys)
  if (keys.includes("\r")) ask()
})

async function ask() {
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "go" }],
      tools: [],
    }),
  })
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of response.body) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n")
    rest = blocks.pop()
    for (const block of blocks) {
      const data = block.slice(6)
      const delta = data === "[DONE]" ? undefined : JSON.parse(data).choices[0]?.delta
      if (delta?.content) process.stdout.write(delta.content.replaceAll("\n", "\r\n"))
    }
  }
}
