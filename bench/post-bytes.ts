// Sends the same bytes as often as it is told, each time when the answer is there, and does nothing else: what the bytes
// of requests cost. `post-bytes.ts URL BYTES TIMES`
import { request } from "node:http"

const [url = "", bytes = "0", times = "0"] = process.argv.slice(2)
const body = Buffer.alloc(Number(bytes), 32)

for (let i = 0; i < Number(times); i++)
  await new Promise<void>((resolve, reject) => {
    const headers = { "content-length": body.length }
    const sent = request(url, { method: "POST", headers }, (response) => response.resume().on("end", resolve))
    sent.on("error", reject).end(body)
  })
