import { expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { staff } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService } from '../support/service.ts'

const TEXT = 'Ada Miller, born 1 Jan 1980'

it('a reason in words of one’s own, which would be kept for good, reaches no table', async () => {
  const service = await prepareService()
  await service.startWorker()
  const leadId = await leadsOf(service, await service.addPartner()).start()
  for (const verb of ['close', 'hold', 'erase'])
    expect(await staff(service.environment, ['lead', verb, `${leadId}`, '--reason', TEXT])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Option '--reason <reason>'[^\n]* Use one of [a-z_, ]*other\./),
    })
  // an operator types it into an update
  const handle = service.client.workflow.getHandle(`lead-${leadId}`)
  await handle.executeUpdate('close', { args: [{ reason: TEXT, note: TEXT }] })
  expect(await handle.result()).toBe('other')
  const { notes } = await handle.query<{ notes: object[] }>('state')
  expect(notes).toMatchObject([
    {
      what: 'close',
      why: expect.stringMatching(/^its reason is not one of withdrew, .*: it counts as other$/),
    },
  ])
  const { rows } = await raw<{ name: string }>`
    select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
  for (const { name } of rows) {
    const found = raw`select from ${raw.id(name)} as t where t::text like '%born 1 Jan%'`
    expect([name, (await found.execute(service.sql)).rows]).toEqual([name, []])
  }
}, 60_000)
