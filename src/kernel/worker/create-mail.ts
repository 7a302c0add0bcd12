// Messages between workers, as rows of the database. NOTIFY only says that there is one; rows are also looked for now and
// then, so a lost notification costs seconds. If a connection is lost meanwhile, a message may be lost or come twice: who
// sends one asks again or says that nobody answered, and doing the same twice changes nothing.
import { createOutage, type Database } from "#kernel/database/database.ts"

export type Mail = Readonly<{
  send(worker: string, message: unknown): Promise<void>
  close(): Promise<void>
}>

const lookEvery = 2_000

/** `take` gets the messages to `worker`, in the order in which they were sent. It must not throw. */
export async function createMail(
  database: Database,
  { worker, take }: { worker: string; take: (message: unknown) => void },
): Promise<Mail> {
  let looking: Promise<void> | undefined
  let isAgain = false
  const outage = createOutage(
    "messages of other workers cannot be read",
    "messages of other workers are read again",
  )
  const listener = database.connect(async (client) => {
    client.on("notification", ({ payload }) => {
      if (payload === worker) look()
    })
    await client.query("listen vitamin_mail")
  })
  const timer = setInterval(() => {
    // A network that is cut tells nothing. The query is not answered, which ends the connection, and the next one listens.
    listener
      .client()
      .then((client) => client.query("select"))
      .catch(() => {})
    look()
  }, lookEvery).unref()
  await listener.client()

  function look() {
    isAgain = true
    looking ??= receive()
      .then(outage.over, outage.failed)
      .finally(() => {
        looking = undefined
      })
  }

  async function receive() {
    while (isAgain) {
      isAgain = false
      const rows = await database.read<{ id: string; body: string }>({
        name: "receive",
        text: "with taken as (delete from vitamin.mail where worker = $1 returning id, body) select * from taken order by id",
        values: [worker],
      })
      for (const { body } of rows) take(JSON.parse(body))
    }
  }

  return Object.freeze({
    async send(to, message) {
      await database.read({
        name: "send",
        text: "with sent as (insert into vitamin.mail (worker, body) values ($1, $2)) select pg_notify('vitamin_mail', $1)",
        values: [to, JSON.stringify(message)],
      })
    },
    async close() {
      clearInterval(timer)
      await looking
      await listener.close()
    },
  })
}
