/** What is left out beyond these is noted again at its next attempt. */
const MOST_NOTED = 20_000
const FAILURE_LENGTH = 300

export interface FailedTask {
  runId: string
  failure: string
  at: Date
}

export type FailedTasks = ReturnType<typeof createFailedTasks>

/** The runs whose workflow task failed on this worker, until they are taken. */
export function createFailedTasks() {
  const noted = new Map<string, FailedTask>()
  return {
    /** @param message what the SDK says of it. */
    note(runId: string, message: string): void {
      if (noted.size < MOST_NOTED && !noted.has(runId))
        noted.set(runId, { runId, failure: failureIn(message), at: new Date() })
    },
    take(limit: number): FailedTask[] {
      const tasks = [...noted.values()].slice(0, limit)
      for (const { runId } of tasks) noted.delete(runId)
      return tasks
    },
  }
}

const FIELD = 'message: "'

/** The failure’s own message, out of the SDK’s `Failure { message: "…", source: … }`, on one line and cut off. */
export function failureIn(message: string): string {
  const start = message.indexOf(FIELD)
  if (start === -1) return onOneLine(message)
  const from = start + FIELD.length
  let end = from
  while (end < message.length && message[end] !== '"') end += message[end] === '\\' ? 2 : 1
  return onOneLine(message.slice(from, end).replaceAll('\\"', '"').replaceAll('\\n', ' '))
}

function onOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, FAILURE_LENGTH)
}
