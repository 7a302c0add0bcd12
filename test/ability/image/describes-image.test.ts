import assert from "node:assert/strict"
import { test } from "node:test"
import { describesImage } from "#ability/image/describes-image.ts"

for (const answer of [
  "An invoice for tea, 48.50.",
  "Yes. It shows an invoice for three boxes of green tea.",
  "A cat on a sofa",
  "I see an invoice for Rosa Lind.",
  "I can see a login form with two fields.",
  "No, the button says “Cancel”.",
  "Let me describe it.\n\n# Login page\n- a title\n- two fields",
  "Eine Rechnung über Tee.",
  "これは請求書です。緑茶が三箱。",
  "The image is not an invoice but a receipt.",
])
  test(`describesImage() accepts ${JSON.stringify(answer)} directly after the image`, () =>
    assert.equal(describesImage(answer, true), true))

for (const answer of [
  "",
  "Yes.",
  "Yes!",
  "No.",
  "Ok, done.",
  "Sure, I can see it.",
  "Yes, I can see the image.",
  "Let me look at the screenshot first.",
  "I'll take a look at the image and then build the page.",
  "I’ll open the file now.",
  "Now let me check the code.",
  "I cannot see any image in this conversation.",
  "I'm sorry, I am unable to view images.",
  "Looks good to me.",
  "I've built the page with a header and three columns.",
  "I updated src/app.ts and the tests pass.",
  "All done!",
  "Would you like me to read the text in it?",
  "48.50",
  "Working on it now.",
  "Sure, here you go:",
  "Here is the component you asked for.",
  "Thanks for sharing the mockup.",
  "The tests pass now and the button is centred.",
])
  test(`describesImage() does not accept ${JSON.stringify(answer)}`, () =>
    assert.equal(describesImage(answer, true), false))

test("describesImage() accepts a later answer only if it names the image", () => {
  assert.equal(describesImage("The function is in src/app.ts and has three callers.", false), false)
  assert.equal(describesImage("Done. All tests pass.", false), false)
  assert.equal(describesImage("The image loader now caches what it reads.", false), false)
  assert.equal(describesImage("I updated the image component.", false), false)
  assert.equal(describesImage("The screenshot shows an invoice for green tea.", false), true)
  assert.equal(describesImage("As written in the image, the total is 48.50.", false), true)
})
