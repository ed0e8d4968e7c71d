import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'

const NAME = 'referrals_erasures_unknown'

/** Counts and logs leads of which nobody knows, after a restore, whether they were erased; none once staff have decided. */
export function createUnknownErasures(registry: Registry, log: Logger): (leadIds: readonly number[]) => void {
  // every process that finds them sets the same gauge
  const gauge =
    (registry.getSingleMetric(NAME) as Gauge | undefined) ??
    new Gauge({
      name: NAME,
      help: 'Leads of which nobody knows, after a restore, whether they were erased',
      registers: [registry],
    })
  return (leadIds) => {
    gauge.set(leadIds.length)
    if (leadIds.length > 0)
      log.error({ lead_ids: leadIds }, 'nobody knows whether leads were erased: see staff erasure list')
  }
}
