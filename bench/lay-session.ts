// Lays a session of many prompts on the disk, as a program that worked for weeks would have left it: a question, a call, its
// result and an answer for each. The first real prompt compacts it.
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Place = Pick<Message.Fields<Message.Type>, "sessionId" | "parentId" | "agent" | "model">

export function laySession(directory: string, prompts: number): Promise<string> {
  return Instance.provide({
    directory,
    async fn() {
      const { id: sessionId } = await Session.create({ title: "long" })
      let parentId: string | null = null
      for (let i = 0; i < prompts; i += 50) {
        const messages: Message.Info[] = []
        for (let n = i; n < Math.min(i + 50, prompts); n++)
          for (const fields of exchange(n)) {
            const place: Place = { sessionId, parentId, agent: "build", model: "openai/m" }
            const message: Message.Info = Message.make({
              ...place,
              ...fields,
            } as Message.Fields<Message.Type>)
            parentId = message.id
            messages.push(message)
          }
        await Promise.all(messages.map((message) => MessageStore.write(message)))
        // Waits for the checkpoint: prompts that a person types never outrun it, so the journal stays short.
        await Storage.close()
      }
      return sessionId
    },
  })
}

function exchange(n: number): Pick<Message.Fields<Message.Type>, "type" | "data">[] {
  const path = `src/file-${n % 200}.ts`
  const call = { id: `call_${n}`, name: "read", arguments: { path }, approval: "approved" as const }
  const output = `${n}\tconst found = "é" // as it was\n`.repeat(20)
  const words = (text: string) => [{ type: "text" as const, text }]
  return [
    { type: "text", data: { role: "user", parts: words(`please look at part ${n} `.repeat(5)) } },
    { type: "tool_request", data: { calls: [call] } },
    {
      type: "tool_result",
      data: {
        requestId: call.id,
        toolName: "read",
        status: "success",
        output,
        duration: 3,
        timestamp: 1,
        metadata: { data: { path } },
      },
    },
    {
      type: "text",
      data: {
        role: "assistant",
        parts: words(`It does this and that, in ${n}.\n`.repeat(5)),
        finish: "stop",
      },
    },
  ]
}
