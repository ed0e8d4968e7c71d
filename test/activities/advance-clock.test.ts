import { expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { clockActivities } from '../../activities/sandbox/advance-clock.ts'
import { clockStart } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { DAY_MS } from '../../src/core/values/durations.ts'
import { prepareDelivering } from '../support/delivering.ts'

it('moves no clock in production', async () => {
  const { sql, commitLead } = await prepareDelivering()
  const leadId = await commitLead()
  const signal = async () => true
  const tools = { sql, wakeLead: signal, tellClock: signal }
  const { advanceClock } = clockActivities({ ...tools, environment: 'production' })
  const since = await clockStart(sql, leadId)
  const run = new MockActivityEnvironment().run(advanceClock, leadId, Date.now() + DAY_MS, since)
  await expect(run).rejects.toThrow('in a sandbox only')
  const lead = sql.selectFrom('leads').select('clock_offset').where('id', '=', leadId)
  expect(await lead.executeTakeFirst()).toEqual({ clock_offset: 0 })
})
