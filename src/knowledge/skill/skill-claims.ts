// What a description says that a skill is for. Many also say what it is not for ("Do NOT use it for PDFs"); those
// words must not find the skill.

const sentence = /(?<=[.!?])\s+/
const refusal = /^(?:(?:please )?(?:do not|don['’]t|never|not|skip|avoid)\b)/i
/** From there to the end of its sentence. */
const exception =
  /[,;:(–—-]?\s*\b(?:but )?(?:not (?:for|when|if|to be)|never (?:for|when)|(?:do not|don['’]t) (?:use|trigger))\b.*$/is

export function skillClaims(description: string): string {
  return description
    .split(sentence)
    .filter((part) => !refusal.test(part.trim()))
    .map((part) => part.replace(exception, ""))
    .join(" ")
}
