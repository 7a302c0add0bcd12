// Commands that take text out of the terminal: the session into a file, the last answer into the clipboard.
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { throughTmux } from "#edge/tui/screen/tmux.ts"
import { type Command, sessionOf } from "./context.ts"
import { isAnswer, textOf } from "./message-text.ts"

/** Characters of Base64 that every terminal with OSC 52 takes. */
const maxClipboard = 74_994

export const exportCommand: Command = {
  name: "export",
  about: "write the session to a file: Markdown, or JSON that can be imported",
  argument: "[file.md|file.json]",
  values({ session }, query) {
    const stem = query.replace(/\.(?:m|md|j|js|jso|json)?$/, "") || session?.slice(0, 13)
    if (stem === undefined) return []
    return [
      { value: `${stem}.md`, about: "Markdown", isFree: true },
      { value: `${stem}.json`, about: "JSON that can be imported", isFree: true },
    ]
  },
  async run(context, rest) {
    const { client, folder, say } = context
    const { id } = sessionOf(context)
    const name = rest || `${id.slice(0, 13)}.md`
    const text = name.endsWith(".json")
      ? `${JSON.stringify(await client.exportSession({ id }), null, 2)}\n`
      : (await client.exportMarkdown({ id })).text
    try {
      writeFileSync(resolve(folder, name), text, { flag: "wx" })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      throw new Error(`${name} exists already. Choose another name: /export NAME`)
    }
    say(`written to ${name}`)
  },
}

export const copyCommand: Command = {
  name: "copy",
  about: "copy the last answer to the clipboard",
  async run(context) {
    const { client, write, say } = context
    if (!write) throw new Error("Plain mode cannot copy. /export FILE writes the session to a file.")
    const messages = await client.listMessages({ id: sessionOf(context).id })
    const answer = messages.findLast((message) => isAnswer(message) && textOf(message).trim() !== "")
    if (!answer) return say("there is no answer to copy yet")
    const data = Buffer.from(textOf(answer)).toString("base64")
    const sequence = `\u001b]52;c;${data}\u0007`
    // tmux takes the text itself with `set-clipboard on`, and passes the sequence on with `allow-passthrough on`.
    write(process.env.TMUX ? sequence + throughTmux(sequence) : sequence)
    const isLong = data.length > maxClipboard
    say(`copied, if your terminal allows it${isLong ? "; it is long, and some terminals cut it" : ""}`)
  },
}
