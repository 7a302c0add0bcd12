// The lines that the person types. The terminal itself edits and shows them, except for a hidden one: that is read key by
// key, and nothing of it is shown.
import { StringDecoder } from "node:string_decoder"

type Options = {
  line(text: string): void
  /** The person pressed Ctrl-D. */
  end(): void
}

export function createLineInput({ line, end }: Options) {
  const { stdin } = process
  const decoder = new StringDecoder("utf8")
  let typed = ""
  let isHidden = false
  let last = ""

  function take(bytes: Buffer): void {
    for (const key of decoder.write(bytes)) {
      const isHalf = last === "\r" && key === "\n"
      last = key
      if (isHalf) continue
      if (key === "\r" || key === "\n") finish(typed)
      else if (!isHidden) typed += key
      else takeHidden(key)
    }
  }

  /** The keys that the terminal would take itself. */
  function takeHidden(key: string): void {
    if (key === "\u0003" || key === "\u0004") finish("")
    else if (key === "\u007f" || key === "\b") typed = typed.slice(0, -1)
    else if (key === "\u0015") typed = ""
    else typed += key
  }

  function finish(text: string): void {
    const wasHidden = isHidden
    setHidden(false)
    typed = ""
    if (wasHidden) process.stdout.write("\n")
    line(text)
  }

  function setHidden(hidden: boolean): void {
    if (hidden === isHidden) return
    isHidden = hidden
    typed = ""
    stdin.setRawMode?.(hidden)
  }

  stdin.on("data", take)
  stdin.on("end", end)
  return Object.freeze({
    /** Whether nothing of the next line is shown. Ctrl-C and Ctrl-D make it empty. */
    setHidden,
    close(): void {
      setHidden(false)
      stdin.off("data", take)
      stdin.off("end", end)
      stdin.pause()
    },
  })
}
