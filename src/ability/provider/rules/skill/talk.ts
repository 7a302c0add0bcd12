// Small talk, answered without a tool.
import { ownCommand } from "#util/own-command.ts"

const answers: [RegExp, string][] = [
  [
    /^(?:hi|hello|hey|hiya|howdy|yo|good (?:morning|afternoon|evening|day)|greetings|hallo|moin|sup)\b(?: (?:there|vitamin|all|everyone|you|again|friend|bot))*$/,
    "Hello. What shall I look at?",
  ],
  [
    /^(?:thanks?|thank you|thx|ty|cheers|great|nice|perfect|awesome|cool|good job|well done|nice work|ok|okay|lovely|excellent|wonderful|super)\b(?: (?:a lot|so much|very much|you|thanks?|for .*|job|work|again|vitamin|that.*|it.*|lot))*$/,
    "You are welcome.",
  ],
  [
    /^(?:yes|no|yep|nope|yeah|nah|sure|stop|wait|lol|haha|hm+|sorry|never ?mind|are you (?:there|still there|ok)|my bad|oops|wow)$/,
    "I am here. What shall I look at?",
  ],
  [/^(?:bye|goodbye|see you|see ya|good night|cya|later|that's all|that is all)\b.*$/, "Goodbye."],
]
const who =
  /^(?:who|what) (?:are|r) (?:you|u)\b|^(?:are|r) you (?:an? )?(?:ai|llm|bot|human|real|robot|model|person|chatgpt|claude|gpt)\b|^what(?:'s| is) your name\b|^(?:introduce|tell me about) yourself\b|^(?:which|what) (?:model|llm|ai) (?:are|is|do) (?:you|this)\b/
const help =
  /^(?:please )?(?:help|\?|help me|i need help|i need some help|commands|usage|can (?:you|u) help(?: me)?(?: out)?|could you help me)(?: please)?$|^what (?:can|could) (?:you|u) do\b|^how (?:can|could) you help\b|^what (?:do|are) you (?:do|capable|able)\b|^how (?:do|can|should) i use (?:you|this|vitamin)\b|^what are your (?:abilities|capabilities|tools|skills)\b|^(?:list|show) (?:me )?your (?:tools|abilities|commands|capabilities)\b/

export const self = "I am local/rules, the built-in offline model: fixed rules, no language model."
export const shortAbilities = [
  self,
  "I list, read, search and count files, run tests and commands, say what git knows, and make changes that are spelled out.",
  'Ask "what can you do?" for examples.',
].join("\n")
const abilities = [
  `${self} I understand requests such as`,
  "  what does this project do?          list the files in src",
  "  show lines 10 to 20 of src/app.ts   where is parseConfig defined?",
  "  find all *.test.ts files            search for 'retry' in src",
  "  how many lines does a.ts have?      which is the largest file?",
  "  what changed?                       which branch is this?",
  "  show the last 5 commits             show all TODO comments",
  "  run the tests                       run `npm run build`",
  "  write 'hello' to notes.txt          replace 'a' with 'b' in notes.txt",
  "  delete notes.txt                    add the line '# x' at the top of a.py",
  "  fetch https://example.com           add 'write docs' to my todos",
  'and several of these in a row, joined by "and" or "then". I change only what is said literally.',
  `For anything else set up a language model: \`${ownCommand} auth login PROVIDER\`, then VITAMIN_MODEL=PROVIDER/MODEL; or start Ollama, which is found by itself.`,
].join("\n")

/** The answer, if the text is nothing but small talk. */
export function talk(text: string): string | undefined {
  const said = text
    .slice(0, 200)
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/[\s,.!?;:)(]+/g, " ")
    .trim()
    .replace(/^(?:hey|hi|hello|ok|okay|so)(?: there| vitamin)? (?=what|who|can|how|are|help|thank)/, "")
  if (text.length > 200) return undefined
  if (help.test(said) || who.test(said)) return abilities
  return answers.find(([pattern]) => pattern.test(said))?.[1]
}
