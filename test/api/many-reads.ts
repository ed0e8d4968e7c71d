import { expect } from '@jest/globals'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import type { partnerCalls } from '../support/service.ts'

/** Creates a lead and reads it so often. Not all at once: an API that opens its connections meanwhile would refuse some. */
export async function createAndRead(
  { post, createLead }: ReturnType<typeof partnerCalls>,
  times: number,
): Promise<number> {
  const lead = await createLead()
  const read = async () => expect((await post('get-lead', { lead_id: lead })).status).toBe(200)
  expect(await forEachInFlight(Array.from({ length: times }), read)).toEqual([])
  return lead
}
