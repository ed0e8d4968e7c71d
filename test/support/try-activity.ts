import { MockActivityEnvironment } from '@temporalio/testing'

type Info = ConstructorParameters<typeof MockActivityEnvironment>[0]

/**
 * One try of an activity.
 *
 * @param info of the try: what earlier ones have said of themselves, for example.
 * @returns its count or its error, and what it has `said` last: heartbeat details for the next.
 */
export async function tryActivity(activity: (id: number) => Promise<number>, id: number, info: Info) {
  const environment = new MockActivityEnvironment(info)
  let said: unknown = info?.heartbeatDetails
  environment.on('heartbeat', (details: unknown) => void (said = details))
  const end = await environment.run(activity, id).then(
    (count) => ({ count }),
    (error: unknown) => ({ error: (error as Error).message }),
  )
  return { ...end, said }
}
