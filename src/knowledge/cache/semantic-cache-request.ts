// When two requests are the same. No similarity of vectors can say so ("merge main into dev", "merge dev into main"), so
// every word must be there, in its order and spelling; what may differ is how a request is dressed: a polite beginning, the
// capital and the end of a sentence, a contraction it begins with. How often that errs: test/knowledge/cache/semantic-cache.test.ts.

/** As it was asked, without the blanks around it. Line ends and forms of a character stay: they may be what is asked about. */
export function normalise(query: string): string {
  return query.trim()
}

/** Words that a request begins with. Only before one of these is "please" politeness, and a capital the sentence's. */
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
/** Without "please", "could you use a map here?" is a question of its own. */
const before = [
  /^(?:hi|hello|hey|ok|okay)[,!] /i,
  /^(?:could|would|can|will) you (?:please|kindly) /i,
  /^i(?:['’]d| would) like you to (?:please )?/i,
  /^i (?:want|need) you to (?:please )?/i,
  /^(?:please|kindly),? /i,
]
const negated = /^(do|does|did|is|are)n['’]t\b/i
const contracted = /^(what|where|who|how)['’]s (?=(?:the|a|an|my|our|your|this|that) )/i
/** In a request about a text, the mark at its end may be part of that. */
const aboutText = [
  /["`“”„«»\n\t]|(?<![\p{L}\p{N}])['‘’]|['‘’](?!\p{L})/u,
  /\b(?:answer|append|blank|called|char|characters?|commit|count|echo|encode|exact|expressions?|globs?|grep|hash|insert|length|letters?)\b/i,
  /\b(?:literal|match\w*|message|named?|pattern|print|punctuation|quote|regexp?|rename|replace|reply|say|send)\b/i,
  /\b(?:spaces?|spell|strings?|tell|texts?|titles?|translate|type|verbatim|whitespace|wildcards?|words?|write)\b/i,
]

/** The request without its dress: two with the same are the same. */
export function plainRequest(query: string): string {
  const text = normalise(query)
  const bare = withoutFrame(text)
  const plain = lowered(bare.replace(negated, "$1 not").replace(contracted, "$1 is "))
  if (aboutText.some((sign) => sign.test(plain))) return plain
  if (!opens(plain)) return plain
  const frame = text.slice(0, text.length - bare.length)
  const isAsked = politeQuestion.test(frame) || questions.test(plain)
  return plain.replace(isAsked ? /(?<=\p{L}{2}|\d)\?$|(?<=\p{L}{2})\.$/u : /(?<=\p{L}{2})\.$/u, "")
}

/** Up to three, one inside the other; none where what is left does not begin as a request does. */
function withoutFrame(text: string, depth = 3): string {
  for (const frame of before) {
    const rest = text.replace(frame, "")
    if (rest === text) continue
    const bare = depth > 1 ? withoutFrame(rest, depth - 1) : rest
    if (opens(bare)) return bare
  }
  return text
}

/** The first letter of a sentence says nothing; that of a name ("Polish") does. */
function lowered(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) && opens(text) ? text[0]!.toLowerCase() + text.slice(1) : text
}

/** A word, and no name that only begins as one: "Build.gradle", "Close()". */
function opens(text: string): boolean {
  return openers.has(/^\p{L}+(?=\s|$|['’]s\s)/u.exec(text)?.[0].toLowerCase() ?? "")
}
