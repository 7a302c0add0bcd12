// Renders what the person wrote and the transcript no longer shows, within a few tokens. The last and the first
// request come first, then what the person forbade or demanded, because that holds until the person says otherwise.
import { oneLine, textWithin } from "#engine/run/fit-tokens.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { wordsOf } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"

type Said = { name: string; text: string; isLimit: boolean; form?: string; tokens: number }

/** Shares of the tokens for the newest and the first message, before the others get theirs. */
const shares = { newest: 0.4, first: 0.2 }
const shortened = 160
const rules =
  /\b(never|always|not|no|don'?t|won'?t|must|only|without|except|instead|rather|stop|avoid|keep|leave|make sure|remember|rule|prefer|from now on|nie|niemals|immer|nicht|kein\w*|nur|muss|statt|jamais|toujours|pas|sans|nunca|siempre|solo|sin)\b|никогда|всегда|только|нельзя|不要|不能|必须|只能|禁止|永远|決して|必ず|しないで|절대|반드시/i

/** Of all messages of the person, in order: those for which `isShown` is false, the newest first. */
export function renderWords(
  words: readonly Message.Of<"text">[],
  { isShown, tokens }: { isShown(message: Message.Info): boolean; tokens: number },
): string[] {
  const gone = words.flatMap((message, i) => {
    if (isShown(message)) return []
    const text = wordsOf(message)
    return [{ name: `(${i + 1} of ${words.length})`, text, isLimit: rules.test(text), tokens: 0 } as Said]
  })
  if (!gone.length) return []
  choose(gone.reverse(), tokens)
  const lines = gone.flatMap(({ form }) => form ?? [])
  const missing = gone.length - lines.length
  return [
    [
      "What the person wrote, the newest first, … where it is shortened. All of it still holds, unless something newer says otherwise:",
      ...lines,
      ...(missing ? [`and ${missing} others, which are not shown here.`] : []),
    ].join("\n"),
  ]
}

/** Each message gets its form, the most important first, until the tokens are used; then the newest short ones are
 * shown whole. */
function choose(gone: Said[], tokens: number): void {
  let rest = tokens
  const give = (said: Said, text: string) => {
    // Further lines are indented, so that they do not look like another message.
    const form = `- ${said.name} ${text.replaceAll("\n", "\n  ")}`
    const cost = estimateTokens(form) + 1 - said.tokens
    if (cost > rest) return
    rest -= cost
    Object.assign(said, { form, tokens: said.tokens + cost })
  }
  const [newest, ...others] = gone
  const first = others.at(-1)
  give(newest!, textWithin(newest!.text, tokens * shares.newest))
  if (first) give(first, textWithin(first.text, tokens * shares.first))
  const between = others.slice(0, -1)
  for (const said of between) if (said.isLimit) give(said, limitsOf(said.text))
  for (const said of between) if (!said.isLimit) give(said, oneLine(said.text, shortened))
  for (const said of gone) if (said.form) give(said, said.text)
}

/** The beginning, and the sentences that forbid or demand something. */
function limitsOf(text: string): string {
  const line = oneLine(text, shortened)
  if (!line.endsWith("…")) return line
  const sentences = text.split(/(?<=[.!?。！？])\s+|\n+|(?<=[。！？])/)
  const limits = sentences.filter((sentence) => rules.test(sentence)).join(" … ")
  return `${oneLine(text, shortened / 2)} ${oneLine(limits, shortened * 1.5)}`
}
