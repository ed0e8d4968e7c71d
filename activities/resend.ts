import type { Sql } from '../src/db/orm.ts'
import { resendPage } from '../src/db/deliveries/resends.ts'
import type { DeliveryDependencies } from './deliver-webhook.ts'
import { deliverOnceMore } from './deliver-once-more.ts'

const PAGE = 100

/** The webhooks of a partner that wait to be sent once more; none while its endpoint is paused. */
export function listResendsActivity({ sql }: { sql: Sql }) {
  return async (partnerId: number) => resendPage(sql, partnerId, PAGE)
}

/** Sends a marked webhook once more and takes the mark away; `held` keeps it. */
export function resendWebhookActivity(dependencies: DeliveryDependencies) {
  return deliverOnceMore(dependencies, 'resend')
}
