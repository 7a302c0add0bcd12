// What was allowed with "always" in a folder, and taking it back.
import type { PermissionGrant } from "#client/client.ts"
import { ruleWords } from "#client/permission-words.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { ago } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { may } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"

export function PermissionsView({ folder }: { folder: string }) {
  const grants = useData(
    () => clientFor(folder).listGrants(),
    [folder],
    (event) => event.type === "permission.replied",
  )
  const revoke = (id: string) =>
    attempt(async () => {
      await clientFor(folder).removeGrant({ id })
      grants.reload()
    })
  return html`<${Loaded} data=${grants}>
    ${(all: PermissionGrant[]) =>
      all.length
        ? html`<ul class="cards">
            ${all.map((grant) => html`<${Grant} key=${grant.id} grant=${grant} onRevoke=${() => revoke(grant.id)} />`)}
          </ul>`
        : html`<${Empty}>Nothing is always allowed here. What you allow with “Always allow” is listed here and can be revoked.<//>`}
  <//>`
}

function Grant({ grant, onRevoke }: { grant: PermissionGrant; onRevoke(): void }) {
  const { agent, permission, pattern, scope, sessionId, time, expires } = grant
  const rule = `${permission}:${pattern}`
  return html`<li class="card">
    <div class="card-head">
      <h2><code class="break">${rule}</code></h2>
      <span class="grow"></span>
      ${
        may(scope === "session" ? "member" : "admin")
          ? html`<button type="button" onClick=${onRevoke} aria-label=${`Revoke ${rule}`}>Revoke</button>`
          : null
      }
    </div>
    <p class="text">The agent ${agent} may use it without a question: ${ruleWords(rule) ?? rule}.</p>
    <p class="dim small">
      ${scope === "session" ? "in one session" : "in the whole project"} · given ${ago(time)}
      ${expires === undefined ? "" : ` · ends ${new Date(expires).toLocaleString("en")}`} ·${" "}
      <a href=${address("session", sessionId)}>its session</a>
    </p>
  </li>`
}
