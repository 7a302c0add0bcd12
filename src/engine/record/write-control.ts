// Records a change of a session's state in its history, for people; models never see it.
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

/** Gives the id of the message. */
export async function writeControl(
  place: { sessionId: string; branch: string; parentId: string | null },
  control: string,
  parameters: Message.JsonObject,
): Promise<string> {
  const message = Message.make({ ...place, type: "system_control", data: { control, parameters } })
  await MessageStore.write(message)
  return message.id
}
