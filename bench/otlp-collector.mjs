// A collector that takes everything, in a process of its own.
import { createServer } from "node:http"

let count = 0
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    count++
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
})
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }))
process.on("message", () => process.send({ count }))
