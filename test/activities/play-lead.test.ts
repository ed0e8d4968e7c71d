import { randomUUID } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { leadPlayer } from '../../activities/sandbox/play-lead.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { drawJourney } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { unplayedLeads } from '../../src/capabilities/sandbox/populations/statements/population-leads.ts'
import { requestPopulation } from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'

const DRAWN = { seed: 1, size: 1, mix: { erased: 1 } }

it('says that a lead is erased whose erasure was asked for at the end of the batch before', async () => {
  const { sql, partnerId } = await openDatabase()
  await requireDeployment(sql, 'sandbox')
  const batch = new AbortController()
  const reached = async () => true
  const player = leadPlayer({
    sql,
    encryptionKeys: testKeys,
    webhookBody: () => '{}',
    startLead: reached,
    wakeLead: reached,
    tellClock: reached,
    simulate: reached,
    close: reached,
    async eraseLead() {
      batch.abort()
      return true
    },
  })
  const requestId = randomUUID()
  const asked = { partnerId, ...DRAWN, faults: null, requestId }
  const { id } = await sql.transaction().execute((trx) => requestPopulation(trx, asked))
  const population = { id, partnerId, seed: DRAWN.seed, requestId }
  const { leadId } = await player.begin(population, 1, 'erased')
  await sql.updateTable('deliveries').set({ state: 'delivered', settled_at: new Date() }).execute()
  const open = async () => (await unplayedLeads(sql, { id, size: 1 })).open[0]!
  const play = async (cut: AbortController) => player.play({ ...population, rests: false }, await open(), cut)

  await play(batch)
  expect((await open()).step).toBe(drawJourney(DRAWN.seed, 1, 'erased').length - 1)
  await eraseLeads(
    sql,
    [leadId],
    { journal: undefined, backupDays: undefined },
    { by: 'key 1', reason: 'other' },
  )
  await play(new AbortController())
  const members = sql.selectFrom('population_leads').select(['lead_id', 'outcome'])
  expect(await members.execute()).toEqual([{ lead_id: leadId, outcome: 'erased' }])
})
