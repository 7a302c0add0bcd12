// The words of requests: verbs by their meaning, programs that a command begins with, and filler words.
const words = (text: string) => new Set(text.split(" "))

export const verbs = {
  search: words("search grep rg ripgrep scan hunt look find locate spot detect query ack"),
  run: words("run execute exec launch invoke start call perform rerun"),
  write: words(
    "write create make save put generate store touch add produce start compose jot fill overwrite initialize",
  ),
  edit: words(
    "replace change swap substitute rename update convert switch turn modify edit fix correct sed alter",
  ),
} as const

/** Words that begin a new request after "and", "then" or a comma. */
const starters = new Set([
  ...Object.values(verbs).flatMap((set) => [...set]),
  ...words(
    "list ls dir enumerate tree browse read open cat view print display show see head tail dump give peek inspect examine review check " +
      "summarize summarise explain describe get load preview skim study reveal present pull bring gimme glob fd identify discover remove " +
      "delete drop erase strip cut insert append prepend fetch download visit retrieve grab curl wget scrape request go mark complete finish " +
      "tick close resolve begin cross count tell say let report what what's whats which where where's who how is are does do can could would " +
      "will please remind pick choose select compare clean wipe purge commit push deploy install undo move copy don't dont never todo todos i'd i",
  ),
])

export function isStarter(word: string): boolean {
  return starters.has(word) || gerund.test(word)
}

/** Programs that a command may begin with. */
const programs = words(
  "npm npx pnpm yarn bun deno node git gh docker docker-compose podman kubectl helm terraform cargo rustc go python python3 " +
    "pip pip3 poetry uv uvx pytest ruby bundle rake gem rails php composer java javac mvn gradle ./gradlew dotnet swift " +
    "tsc tsx eslint prettier biome vitest jest mocha playwright vite webpack rollup esbuild tsup knip cmake ninja gcc g++ " +
    "clang echo printf pwd whoami uname hostname mkdir rmdir rm mv cp ln chmod chown sed awk curl wget tar zip unzip gzip " +
    "ssh scp rsync df du ps env export which xargs tee jq wc diff psql mysql sqlite3 redis-cli systemctl journalctl sudo " +
    "brew apt apt-get yum dnf apk make bash sh zsh ls cat grep rg find head tail date touch sleep true false cd source kill " +
    "killall pkill dd mkfs shutdown reboot ping dig nslookup nc top uptime free history seq sort uniq cut tr nl basename dirname " +
    "realpath stat file md5sum sha256sum openssl base64 ts-node nodemon turbo nx lerna nvm fnm svn hg ansible aws gcloud az " +
    "heroku vercel netlify flyctl vitamin lsof netstat ip ifconfig mount umount crontab time timeout nohup watch tree test",
)
/** Programs whose names are English verbs or nouns, too. */
const ambiguous = words(
  "make find head tail date touch sleep source kill which watch time test sort cut file free history top export true false " +
    "tree go swift composer helm bundle rake gem rails play node stat env cat ls grep rg diff sudo file mount time timeout tee uv",
)

export function isProgram(word: string): boolean {
  return programs.has(word) || /^\.{0,2}\/[\w./-]+$/.test(word)
}

/** The name of a program that is no English word. */
export function isClearProgram(word: string): boolean {
  return programs.has(word) && !ambiguous.has(word)
}

/** Phrases before a request that do not change it; longest first. */
const openings = [
  "i would like you to|i would like to|it would be (?:nice|great|good|cool) if you (?:could|would)|would be (?:nice|great|good|cool) if you (?:could|would)|when you (?:have|get) (?:a )?(?:minute|moment|chance|time)|if you (?:could|can|would|don't mind)|if possible|do you mind|would you be able to|are you able to|were you able to|could you be so kind (?:as to|and)|would it be possible to|is it possible to|i'd love to|i'd love you to|i'm trying to|i am trying to|i'd like you to|i'd like to|i want you to|i would love to",
  "i want to know|i want to|i need you to|i need to know|i need to|i wanna|i need|i want|i'd need|i'd like|i would like|would you mind|could someone|can someone|somebody please|someone please",
  "could you please|can you please|would you please|will you please|could you|can you|would you|will you|can u|could u|would u|will u|could we|can we|can i|could i",
  "can i please|may i|you should|you can|you could|please could you|let's|lets|let us|let me|help me to|help me|go ahead and|be so kind and",
  "take a(?= look)|have a(?= look)|take another(?= look)|try to|try and|try|make sure to|make sure you|do me a favor and|for me|in order to|do you know",
  "please|pls|plz|kindly|just|now|then|next|also|finally|afterwards|after that|lastly|again|quickly|simply|recursively(?= list| show)|hey|hi|hello|ok|okay|so|well|yes|alright|yo|umm?|hmm|sorry to bother you|sorry to bother|sorry|excuse me|good morning|morning|oh|right|sure|great|thanks|quick question|real quick|actually|basically",
  "i was wondering|i wonder|any idea|(?:i can't remember|i cannot remember|i don't remember|i don't know|i forgot|i'm not sure|not sure|can't remember|no idea|do you remember|do you happen to know|i have to know|figure out|work out)(?= where| which| what| how| who| if| whether)|(?:i think |i believe |i know )?(?:there's|there is|there should be|there must be|there used to be) an?(?= (?:\\w+ )?(?:file|function|class|method|variable|constant|component)\\b)|a(?= list| listing| look)(?! list (?:with|containing))|an(?= overview)|i'm looking for|i am looking for|im looking for|i'm searching for|in(?= which| what)|and|but|after|by|(?:check|see|find out|look)(?= what| which| where| how many)|start by|begin by|start with|begin with|tell me|show me(?= what| which| where| how)|let me know|(?:second|third)(?! (?:line|row|one|file|match|result|of)\\b)|vitamin|maybe|perhaps|once more|plus|additionally|secondly|firstly|to start|to begin with|use bash to|use the shell to|use the terminal to|use the command line to|use a shell to",
  "using bash|with bash|in the terminal|in bash|in the shell|step \\d+|go and|first of all|your task is to|you need to|the task is to",
].join("|")
const gerund =
  /^(?:read|list|search|find|open|runn?|execut|creat|writ|replac|chang|fetch|show|print|look|check|grepp?|renam)ing$/

/** Verbs that are recognised despite a typing error. */
const common =
  "list show read search find open print display view grep look replace change create write fetch run execute rename save which what where download".split(
    " ",
  )
/** Other words that decide what is meant. */
const deciding = "files folder directory lines first contents called named between".split(" ")
const real = /^(?:were|names?|white|flies|fires|fines|tiles|miles|piles|fist|firsts?|holder|older|bolder)$/

/** The verb that was meant, despite two swapped letters, one too many or one missing. */
export function meantVerb(word: string): string {
  if (gerund.test(word)) {
    const stem = word.slice(0, -3).replace(/(nn|pp)$/, (pair) => pair[0]!)
    return isStarter(stem) ? stem : `${stem}e`
  }
  if (word.length < 3 || word.length > 9 || isStarter(word) || isProgram(word)) return word
  if (real.test(word)) return word
  return common.find((verb) => isSlip(word, verb)) ?? word
}

/** The same for other words. */
export function meantWord(word: string): string {
  if (word.length < 4 || word.length > 10 || real.test(word)) return word
  if (deciding.some((known) => known === word || known === `${word}s` || `${known}s` === word)) return word
  return deciding.find((known) => word.length >= known.length - 1 && isSlip(word, known)) ?? word
}

function isSlip(word: string, verb: string): boolean {
  if (word.length === verb.length) {
    const at = [...word].findIndex((char, i) => char !== verb[i])
    if (at < 0) return false
    const isOther = word.length >= 6 && word.slice(at + 1) === verb.slice(at + 1)
    return isOther || word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2) === verb
  }
  const [short, long] = word.length < verb.length ? [word, verb] : [verb, word]
  if (long.length - short.length !== 1 || short.length < 3) return false
  return [...long].some((_, i) => long.slice(0, i) + long.slice(i + 1) === short)
}

export const opening = new RegExp(`^(?:${openings})(?=\\s|$)`)
