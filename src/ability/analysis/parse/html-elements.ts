// The elements of the HTML standard: all of them, those without an end tag, and those that may end without one.

export const elements: ReadonlySet<string> = words(`
  html head title base link meta style body article section nav aside h1 h2 h3 h4 h5 h6 hgroup header footer address search
  main p hr pre blockquote ol ul menu li dl dt dd figure figcaption div a em strong small s cite q dfn abbr ruby rt rp data
  time code var samp kbd sub sup i b u mark bdi bdo span br wbr ins del picture source img iframe embed object video audio
  track map area table caption colgroup col tbody thead tfoot tr td th form label input button select selectedcontent
  datalist optgroup option textarea output progress meter fieldset legend details summary dialog script noscript template
  slot canvas svg math ${obsoleteElements()}`)

export const obsolete: ReadonlySet<string> = words(obsoleteElements())

const voids = words("area base br col embed hr img input link meta source track wbr param frame basefont")
const optionalEnds = words(
  "html head body p li dt dd option optgroup rt rp thead tbody tfoot tr td th colgroup caption",
)
const blocks = words(
  "address article aside blockquote details dialog div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header " +
    "hgroup hr main menu nav ol p pre search section table ul",
)
/** Start tags that end an open element. */
const ends: Record<string, ReadonlySet<string>> = {
  head: words("body"),
  p: blocks,
  li: words("li"),
  dt: words("dt dd"),
  dd: words("dt dd"),
  option: words("option optgroup"),
  optgroup: words("optgroup"),
  rt: words("rt rp"),
  rp: words("rt rp"),
  caption: words("thead tbody tfoot tr colgroup"),
  colgroup: words("thead tbody tfoot tr"),
  thead: words("tbody tfoot"),
  tbody: words("tbody tfoot"),
  tfoot: words("tbody"),
  tr: words("tr thead tbody tfoot"),
  td: words("td th tr thead tbody tfoot"),
  th: words("td th tr thead tbody tfoot"),
}

export function isVoid(name: string): boolean {
  return voids.has(name)
}

export function hasOptionalEnd(name: string): boolean {
  return optionalEnds.has(name)
}

/** Returns true if the start tag `starting` ends the open element `open`. */
export function closedBy(open: string, starting: string): boolean {
  return ends[open]?.has(starting) ?? false
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

function obsoleteElements(): string {
  return "acronym applet basefont bgsound big blink center dir font frame frameset marquee nobr noframes param strike tt xmp"
}
