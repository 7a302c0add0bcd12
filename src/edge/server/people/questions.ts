// Questions of sessions to people: a person sees those of sessions that they may see, and answers as a member of the session.
import * as Session from "#engine/session/session.ts"
import * as Person from "#kernel/person.ts"
import { NamedError } from "#util/error.ts"

type Question = { id: string; sessionId?: string | undefined }

/** A question that names no session is left to the owner and to admins. */
export async function visibleQuestions<T extends Question>(questions: T[]): Promise<T[]> {
  if (!Person.limited()) return questions
  const isVisible = await Promise.all(questions.map(({ sessionId }) => maySee(sessionId)))
  return questions.filter((_, at) => isVisible[at])
}

async function maySee(sessionId: string | undefined): Promise<boolean> {
  if (sessionId === undefined) return false
  return Session.get(sessionId).then(
    () => true,
    (error) => {
      if (!(error instanceof Session.NotFound)) throw error
      return false
    },
  )
}

/** Throws if the person may not answer it. A question that does not exist is left to the caller. */
export async function checkQuestion(questions: Question[], id: string): Promise<void> {
  const question = Person.limited() && questions.find((one) => one.id === id)
  if (!question) return
  await Session.getFor(question.sessionId ?? "", "member").catch((error) => {
    if (!(error instanceof Session.NotFound)) throw error
    // The error of the session would name it.
    throw new NamedError("Question.NotFound", `Question ${JSON.stringify(id)} does not exist.`, { id })
  })
}
