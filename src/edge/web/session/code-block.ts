// A block of code: coloured by a few rules that fit most languages, and copied with a button.
import { useMemo } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import { CopyButton } from "#edge/web/part/copy-button.ts"

/** `at`: where it begins. */
type Piece = { at: number; text: string; kind: "" | "comment" | "string" | "number" | "keyword" }

/** Longer code is not coloured. */
const maxColoured = 30_000
const words =
  "abstract as async await break case catch class const continue def default defer del do elif else end enum except export extends false final finally fn for foreach from func function go if impl implements import in interface is let loop match mod module mut namespace new nil none not null or and override package pass private protected public pub raise return self static struct super switch then this throw trait true try type typeof undefined union unsafe use using val var void when where while with yield True False None"
/** The length of a string is bounded, and a comment without an end goes up to the end of the code: each character is then
 * looked at a few times only, whatever the code is. */
const tokens = new RegExp(
  [
    String.raw`(?<string>"""[^]*?"""|"(?:\\.|[^"\\\n]){0,500}"|'(?:\\.|[^'\\\n]){0,500}'|${"`"}(?:\\.|[^${"`"}\\]){0,500}${"`"})`,
    String.raw`(?<comment>\/\*[^]*?(?:\*\/|(?![^]))|(?<![:\w])\/\/[^\n]*|(?<=^|\s)#(?![0-9a-f]{3,8}\b)[^\n]*)`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${words.split(" ").join("|")})\b)`,
  ].join("|"),
  "gm",
)
/** They have no words in common with programs. */
const plain = /^(?:text|txt|plain|log|console|output|diff|markdown|md|csv)?$/i

/** While code grows, a piece keeps its element as long as it begins at the same place: nothing moves. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  const pieces = useMemo(() => piecesOf(code, language), [code, language])
  return html`<div class="code">
    <div class="code-head"><span class="dim">${language}</span><${CopyButton} text=${code} /></div>
    <pre tabindex="0"><code>${pieces.map(({ at, text, kind }) => html`<span key=${at} class=${kind ? `k-${kind}` : undefined}>${text}</span>`)}</code></pre>
  </div>`
}

function piecesOf(code: string, language: string): Piece[] {
  if (code.length > maxColoured || plain.test(language)) return [{ at: 0, text: code, kind: "" }]
  const pieces: Piece[] = []
  let at = 0
  for (const match of code.matchAll(tokens)) {
    const [kind] = Object.entries(match.groups!).find(([, text]) => text !== undefined)!
    if (match.index > at) pieces.push({ at, text: code.slice(at, match.index), kind: "" })
    pieces.push({ at: match.index, text: match[0], kind: kind as Piece["kind"] })
    at = match.index + match[0].length
  }
  if (at < code.length) pieces.push({ at, text: code.slice(at), kind: "" })
  return pieces
}
