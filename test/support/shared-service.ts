import { joinService, type Service, type ServiceFacts } from './service.ts'

interface SharedFacts extends ServiceFacts {
  /** The API's. */
  port: number
  /** Answers what both processes have written so far. */
  outputUrl: string
  metricsPorts: number[]
}

export type SharedService = Service & Pick<SharedFacts, 'port' | 'outputUrl' | 'metricsPorts'>

/**
 * A service with one API and one worker on defaults, which files share: partners of its own keep a file apart. For
 * whatever kills, restarts, counts over all partners or changes settings, there is `prepareService`.
 */
export async function sharedService(): Promise<SharedService> {
  const response = await fetch(process.env.TEST_SHARED_SERVICE ?? '')
  if (!response.ok) throw new Error(`The shared service did not start: ${await response.text()}`)
  const { port, outputUrl, metricsPorts, ...facts } = (await response.json()) as SharedFacts
  return { ...(await joinService(facts)), port, outputUrl, metricsPorts }
}
