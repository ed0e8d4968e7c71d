import { partnerCalls } from '../support/service.ts'
import { timed } from './milestones.ts'
import { startSides } from './sides.ts'
import { median, type Row } from './table.ts'

const SAMPLES = 30
const YEARS = 10

/** A lead's clock: 45 days against one milestone to its webhook, and a year in one call. */
export async function sandbox(): Promise<Row[]> {
  const sides = await startSides()
  const { service, deployment } = sides
  const api = await deployment.startApi()
  const { post } = partnerCalls(api.port, deployment.partner.key)
  const advance = async (leadId: number, days: number) => {
    const began = performance.now()
    const { body } = await post('sandbox/advance-clock', { lead_id: leadId, days })
    if (body.data?.status !== 'score_update')
      throw new Error(`advance-clock answered ${JSON.stringify(body)}`)
    return performance.now() - began
  }
  const leads = await service.begin(SAMPLES + YEARS)
  // score updates are due from then on
  await Promise.all(
    leads.map(async (leadId) => {
      const called = service.called(leadId)
      await service.signal(leadId, 'escrow_funded')
      await called
    }),
  )
  // the first of each kind finds cold code
  await advance(leads[0] ?? 0, 45)
  const milestones: number[] = []
  const periods: number[] = []
  const years: number[] = []
  for (const leadId of leads.slice(0, SAMPLES)) {
    milestones.push(await timed(service, leadId))
    periods.push(await advance(leadId, 45))
  }
  for (const leadId of leads.slice(SAMPLES)) years.push(await advance(leadId, 365))
  await sides.verify()
  const floor = [median(milestones)]
  return [
    {
      work: '45 days of a lead in one call, p50',
      unit: 'ms',
      floor,
      service: [median(periods)],
      aim: { to: 3 },
    },
    { work: 'a year of a lead in one call, p50', unit: 'ms', service: [median(years)], aim: { to: 500 } },
  ]
}
