// The entry of the page: signs in with the code of the address, follows events, and shows the view that the address names.
import { render } from "preact"
import { signIn } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { address, go } from "#edge/web/base/router.ts"
import { connection, followEvents, listen } from "#edge/web/store/live.ts"
import { report } from "#edge/web/store/problems.ts"
import { applyToSessions, loadSessions } from "#edge/web/store/sessions.ts"
import { App } from "#edge/web/view/app.ts"

const given = new URLSearchParams(location.hash.slice(1))
const [code, folder] = [given.get("code"), given.get("folder")]
// The code must not stay in the history of the browser.
if (code !== null) go(folder === null ? "/" : address("folder", folder).slice(1), { replace: true })

render(html`<${App} />`, document.getElementById("page")!)
listen(applyToSessions)
void start()

async function start(): Promise<void> {
  // Its requests wait for the event stream.
  const loaded = loadSessions().catch(report)
  const refused = code === null ? undefined : await signIn(code).catch((error: Error) => error)
  const following = followEvents()
  await loaded
  await following
  // The browser may have signed in before. Then it does not matter that the code is not new.
  if (refused && connection.value === "signed out") report(refused)
}
