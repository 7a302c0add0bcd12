// Decides whether two requests are the same. The similarity of vectors cannot ("merge main into dev", "merge dev into
// main"): every word must be the same, in the same order and spelling. Only the form may differ: a polite beginning,
// the capital and the end of a sentence, a contraction at its start. test/knowledge/cache/semantic-cache.test.ts has
// the error rates.

/** Words that a request begins with. Only before these words, "please" is dropped and a capital is ignored. */
const openers = new Set(
  `add analyse analyze answer append apply are build calculate call change check clean close commit compare compile compute
  convert copy count create debug delete deploy describe did display do does download edit enable evaluate execute explain
  export fetch find fix format generate get give help how implement import improve insert install is list load log look merge
  move open optimise optimize parse print pull push read rebase refactor release remove rename replace restart restore revert
  review rewrite run save search send set show sort split start stop summarise summarize tell test translate undo update
  upgrade upload use validate verify what where which who why write`.split(/\s+/),
)
const politeQuestion = /\b(?:could|would|can|will) you\b/i
const questions = /^(?:what|where|which|who|why|how|is|are|does|did)\b/
/** Polite beginnings. "could you" counts only with "please", because "could you use a map here?" may be a question. */
const before = [
  /^(?:hi|hello|hey|ok|okay)[,!] /i,
  /^(?:could|would|can|will) you (?:please|kindly) /i,
  /^i(?:['’]d| would) like you to (?:please )?/i,
  /^i (?:want|need) you to (?:please )?/i,
  /^(?:please|kindly),? /i,
]
const negated = /^(do|does|did|is|are)n['’]t\b/i
const contracted = /^(what|where|who|how)['’]s (?=(?:the|a|an|my|our|your|this|that) )/i
/** In a request about a text, the punctuation at its end may be a part of that text. */
const aboutText = [
  /["`“”„«»\n\t]|(?<![\p{L}\p{N}])['‘’]|['‘’](?!\p{L})/u,
  /\b(?:answer|append|blank|called|char|characters?|commit|count|echo|encode|exact|expressions?|globs?|grep|hash|insert|length|letters?)\b/i,
  /\b(?:literal|match\w*|message|named?|pattern|print|punctuation|quote|regexp?|rename|replace|reply|say|send)\b/i,
  /\b(?:spaces?|spell|strings?|tell|texts?|titles?|translate|type|verbatim|whitespace|wildcards?|words?|write)\b/i,
]

/** The request in a plain form: two requests with the same plain form are the same. */
export function plainRequest(query: string): string {
  const text = query.trim()
  const bare = withoutFrame(text)
  const plain = lowered(bare.replace(negated, "$1 not").replace(contracted, "$1 is "))
  if (aboutText.some((sign) => sign.test(plain))) return plain
  if (!opens(plain)) return plain
  const frame = text.slice(0, text.length - bare.length)
  const isAsked = politeQuestion.test(frame) || questions.test(plain)
  return plain.replace(isAsked ? /(?<=\p{L}{2}|\d)\?$|(?<=\p{L}{2})\.$/u : /(?<=\p{L}{2})\.$/u, "")
}

/** Removes up to three polite beginnings, if the rest begins as a request does. */
function withoutFrame(text: string, depth = 3): string {
  for (const frame of before) {
    const rest = text.replace(frame, "")
    if (rest === text) continue
    const bare = depth > 1 ? withoutFrame(rest, depth - 1) : rest
    if (opens(bare)) return bare
  }
  return text
}

/** The capital of a sentence means nothing; that of a name ("Polish") does. */
function lowered(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) && opens(text) ? text[0]!.toLowerCase() + text.slice(1) : text
}

/** Whether the text begins with such a word, and not with a name such as "Build.gradle" or "Close()". */
function opens(text: string): boolean {
  return openers.has(/^\p{L}+(?=\s|$|['’]s\s)/u.exec(text)?.[0].toLowerCase() ?? "")
}
