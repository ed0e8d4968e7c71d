import { type EndpointReview, reviewEndpoint } from '../src/db/endpoints/review.ts'
import type { Sql } from '../src/db/orm.ts'

/** Where an endpoint stands; `null` when it has no URL, and its deliveries wait for one. */
export function reviewEndpointActivity({ sql }: { sql: Sql }) {
  return async (endpointId: number): Promise<EndpointReview | null> =>
    (await reviewEndpoint(sql, endpointId)) ?? null
}
