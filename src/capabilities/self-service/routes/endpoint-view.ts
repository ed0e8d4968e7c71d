import { z } from 'zod'
import { inSnapshot } from '../../../core/database/in-transaction.ts'
import { findEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import { readHealth } from '../../../core/endpoints/statements/health.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { describeReason, endpointHealths, healthOf } from '../../../core/endpoints/decisions/endpoint.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { exampleHealth, healthFields, healthToWire } from './endpoint-health.ts'
import { noRequests, requestFields, requestsToWire } from './endpoint-requests.ts'
import { ApiError } from '../../../core/http/errors.ts'
import { timestamp } from '../../../core/http/fields.ts'

/** An endpoint as its partner sees it. */
export const endpointView = z
  .object({
    url: z.string().nullable().describe('`null` if none is registered.'),
    health: z.enum(endpointHealths).meta({
      id: 'EndpointHealth',
      description:
        '`active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held.',
    }),
    reason: z.string().describe('For people.'),
    since: timestamp.describe('Since when `health` is what it is.'),
    open_deliveries: z
      .int()
      .describe('How many webhooks are not settled: neither delivered, given up nor canceled.'),
    ...healthFields,
    ...requestFields,
  })
  .meta({ id: 'Endpoint', description: 'Where your webhooks are sent.' })

export const endpointWithSecret = endpointView
  .extend({ secret: z.string().describe('The new signing secret. Store it now: it is not shown again.') })
  .meta({ id: 'EndpointWithSecret', description: 'The endpoint, with the secret that was just made.' })

export type EndpointView = z.output<typeof endpointView>

/** Reads a partner's endpoint in one snapshot. A caller with a transaction has the endpoint locked, which is as good. */
export async function viewOf(sql: Sql, partnerId: number): Promise<EndpointView> {
  return sql.isTransaction ? read(sql, partnerId) : inSnapshot(sql, (trx) => read(trx, partnerId))
}

async function read(sql: Sql, partnerId: number): Promise<EndpointView> {
  const endpoint = await findEndpoint(sql, partnerId)
  // every partner has one from the start
  if (endpoint === undefined) throw new ApiError('INTERNAL_ERROR')
  const { health, reason, since } = healthOf(endpoint)
  return {
    url: endpoint.url,
    health,
    reason: describeReason(reason),
    since: formatTimestamp(since),
    open_deliveries: endpoint.open_deliveries ?? 0,
    ...healthToWire(await readHealth(sql, partnerId)),
    ...requestsToWire(endpoint),
  }
}

/** An endpoint in its simplest state, for examples. */
export const exampleView: EndpointView = {
  url: 'https://lender.example.com/webhooks',
  health: 'active',
  reason: describeReason(null),
  since: '2026-03-02 09:00:00',
  open_deliveries: 0,
  ...exampleHealth,
  ...noRequests,
}
