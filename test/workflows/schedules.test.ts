import { rmSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { hasCompared } from '../support/compared.ts'
import { leadsOf } from '../support/leads.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'

const TWO_MINUTES_MS = 120_000

it('leads go on within two minutes after Temporal has come back without its data', async () => {
  const temporal = await ownTemporal()
  const place = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: 'default' }
  const service = await prepareService(place)
  const partner = await service.addPartner()
  const leads = leadsOf(service, partner)
  await service.startWorker()
  const leadId = await leads.start()
  await until(async () => {
    const delivered = service.sql.selectFrom('deliveries').select('event_id').where('state', '=', 'delivered')
    return (await delivered.execute()).length === 1
  })
  await hasCompared(service)

  await temporal.kill()
  for (const file of temporal.dataFiles()) rmSync(file)
  await temporal.start()
  const returnedAt = performance.now()
  // an upstream system sends signals only: it starts no workflow
  const lead = service.client.workflow.getHandle(`lead-${leadId}`)
  await until(() =>
    lead.signal('contract_signed').then(
      () => true,
      () => false,
    ),
  )
  await partner.endpoint.until(({ length }) => length === 2)
  expect(performance.now() - returnedAt).toBeLessThan(TWO_MINUTES_MS)
  expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2])
  for (const name of ['comparison', 'retention']) {
    const schedule = service.client.schedule.getHandle(name)
    expect((await schedule.describe()).policies.overlap).toBe('SKIP')
  }
}, 180_000)
