import { defineEntity, p } from '@mikro-orm/core'

/**
 * A request that a partner made, without anything that it held. It refers to no other row, because a foreign key would lock
 * partner, key and lead for each request.
 */
export const Request = defineEntity({
  name: 'Request',
  tableName: 'requests',
  properties: {
    partnerId: p.integer().primary(),
    /** The `X-Request-Id`, a UUID of version 7: it says when the request came, and sorts by that. */
    id: p.uuid().primary(),
    keyId: p.integer(),
    call: p.text(),
    status: p.smallint(),
    errorCode: p.text().nullable(),
    /** Of the call's own fields, those that were wrong. */
    fields: p.array().columnType('text[]').defaultRaw("'{}'"),
    leadId: p.integer().nullable(),
    durationMs: p.integer(),
  },
})
