// Decides whether an answer of a model describes an image that it was sent. Announcements, a bare yes, reports of work
// and refusals do not count. A wrong "no" costs little: the image stays pending, and a model without vision gets its
// text by OCR.

/** The fewest words of a description. */
const fewestWords = 3
/** Sentences that say nothing about an image. The phrases are English; in other languages only the number of words
 * decides. */
const empty = [
  /^(yes|yeah|yep|no|nope|ok|okay|sure|done|right|correct|exactly|indeed|certainly|of course|absolutely|understood|got it|thanks|thank you|great|perfect|alright|hello|hi|sorry)\b[^a-z]*$/i,
  /^(now |first,? |next,? |then,? )*(let me|let's|let us|i'll|i will|i'm going to|i am going to|i'm|i am|i need to|i should|i want to|i've|i have|i can|i could|i would|i'd|we can|we could|we should|we'll)\b(?! (can )?(see|read))/i,
  /^i (added|built|changed|checked|compared|created|deleted|did|edited|fixed|found no|implemented|looked|made|moved|ran|removed|renamed|replaced|rewrote|tested|tried|updated|used|wrote)\b/i,
  /\b(can(no|')t|can not|could( no|n')t|unable to|not able to|don't|do not|didn't|did not) (actually |directly )?(see|view|look at|open|access|read|display|make out)\b/i,
  /\b(i|we) (can )?see (it|that|this|the (image|picture|photo|screenshot)|your (image|picture|photo|screenshot))[.!]?$/i,
  /^(looks|sounds|seems) (good|great|fine|right|ok|okay)\b/i,
  /^(all )?(done|set|fixed|finished|works?)\b/i,
  /^(working|looking|checking|starting|getting|going) (on|into|at|over|through|to)\b/i,
  /^here (you go|we go|it is)\b/i,
  /^here('s| is| are)\b.*\b(you (asked|wanted|requested|needed)|code|component|page|file|files|version|changes?|implementation)\b/i,
  /^(thanks|thank you)\b/i,
  /\b(tests?|build|lint|checks?) (now |all )*(pass|passes|passed|fail|fails|failed|is green|are green)\b/i,
  /\?$/,
]
const leading =
  /^(yes|yeah|yep|no|nope|ok|okay|sure|right|correct|indeed|certainly|of course|absolutely|understood|got it|great|perfect|alright)\b[\s,.!:;–—-]*/i
const picture =
  "(image|picture|photo(graph)?|screen ?shot|screen|diagram|chart|graph|drawing|sketch|mock-?up|figure|scan|illustration|icon|logo)"
/** Phrases about an image. A later answer must have one, because it may be about something else. */
const named = new RegExp(
  `\\b(the|this|that|your|attached|first|second|last) (\\w+ )?${picture}s? (you \\w+ )?(also )?(shows?|depicts?|displays?|contains?|illustrates?|says?|reads?|has|have|is an?|is of|are)\\b|\\b(see|shown|visible|written|displayed|pictured) (here )?(in|on) (the|this|that|your) (\\w+ )?${picture}`,
  "i",
)

/** `isDirect`: it is the first answer after the image, without a tool call between them. */
export function describesImage(answer: string, isDirect: boolean): boolean {
  const text = answer.trim()
  if (!isDirect && !named.test(text)) return false
  const left = sentencesOf(text)
    .map((sentence) => sentence.replace(leading, ""))
    .filter((sentence) => !empty.some((pattern) => pattern.test(sentence)))
  return countWords(left.join(" ")) >= fewestWords
}

function sentencesOf(text: string): string[] {
  return text
    .replaceAll("’", "'")
    .split(/(?<=[.!?…])\s+|\n+/)
    .map((sentence) => sentence.replace(/^[#>*\s\-–•]+/, "").trim())
    .filter(Boolean)
}

function countWords(text: string): number {
  let count = 0
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    if (isWordLike) count += 1
    if (count >= fewestWords) break
  }
  return count
}
