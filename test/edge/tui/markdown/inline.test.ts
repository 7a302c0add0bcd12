import assert from "node:assert/strict"
import { test } from "node:test"
import { parseInline } from "#edge/tui/markdown/inline.ts"

/** Spans as text: `‹strong:bold›`. */
function show(text: string): string {
  return parseInline(text)
    .map((span) => (span.roles.length ? `‹${span.roles.join("+")}:${span.text}›` : span.text))
    .join("")
}

const cases: [title: string, text: string, shown: string][] = [
  ["bold and italic", "a **b** *c* _d_ e", "a ‹strong:b› ‹emphasis:c› ‹emphasis:d› e"],
  ["both at once", "***x***", "‹emphasis+strong:x›"],
  ["italic in bold", "**a *b* c**", "‹strong:a ›‹emphasis+strong:b›‹strong: c›"],
  ["strike", "~~a~~ ~b~ ~~~c~~~", "‹strike:a› ‹strike:b› ~~~c~~~"],
  ["a mark that is never closed", "a **b", "a **b"],
  ["marks of different lengths", "**a* b", "*‹emphasis:a› b"],
  ["names with underscores", "a_b_c __init__ snake_case_", "a_b_c __init__ snake_case_"],
  ["patterns of files", "src/*.ts, test/*", "src/*.ts, test/*"],
  ["a product", "2 * 3 * 4", "2 * 3 * 4"],
  ["code", "`a` ``b ` c`` `d", "‹code:a› ‹code:b ` c› `d"],
  ["marks in code", "`**a**` **`b`**", "‹code:**a**› ‹code+strong:b›"],
  ["escaped marks", "\\*a\\* \\`b\\` \\x", "*a* `b` \\x"],
  ["a link", '[a *b*](http://c.d/e "t") f', "‹link:a ›‹emphasis+link:b›‹dim: (http://c.d/e)› f"],
  ["a link whose text is its address", "[c.d](http://c.d) <http://c.d>", "‹link:c.d› ‹link:http://c.d›"],
  ["a link with parentheses", "[a](b(c)d)", "‹link:a›‹dim: (b(c)d)›"],
  ["an image", "![a](b.png)", "image: ‹link:a›‹dim: (b.png)›"],
  [
    "an address in a sentence",
    "(see https://a.b/c_d_e?f=g). **https://h.i**",
    "(see ‹link:https://a.b/c_d_e?f=g›). ‹link+strong:https://h.i›",
  ],
  ["words that begin with h", "host and *here* http", "host and ‹emphasis:here› http"],
  ["brackets that are no link", "a[1] [b] [c](d", "a[1] [b] [c](d"],
  ["HTML", "<b>a</b> &lt;c&gt; &amp;&nbsp;&#27;", "<b>a</b> <c> & &#27;"],
  ["wide characters", "**重要**です 👩‍💻*a*", "‹strong:重要›です 👩‍💻‹emphasis:a›"],
]

for (const [title, text, shown] of cases)
  test(`parseInline() reads ${title}`, () => assert.equal(show(text), shown))

test("parseInline() shows where a link leads whose text looks like another address", () => {
  const isHidden = (label: string) =>
    parseInline(`[${label}](https://evil.example)`).some(({ isAddress }) => isAddress)
  for (const label of [
    "https://bank.com",
    "www.bank",
    "bank.com",
    "bank.com, sign in",
    "bank.com.",
    "bank\u200b.com",
    "bank.c\u034fom",
    "bank。com",
    "**bank**.com",
    "localhost:3000",
    "127.0.0.1",
  ])
    assert.equal(isHidden(label), false, label)
  for (const label of ["the manual", "Sign in. Now", "e. g. this"]) assert.equal(isHidden(label), true, label)
})

test("parseInline() loses no character of text without marks, whatever it is", () => {
  for (const text of [
    "[".repeat(50),
    "]".repeat(50),
    "!".repeat(9),
    "<a <b",
    "&am",
    "h ht htt http:/ https",
    "\\",
  ])
    assert.equal(
      parseInline(text)
        .map((span) => span.text)
        .join(""),
      text,
    )
})
