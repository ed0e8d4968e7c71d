import type { Finder } from '../../../core/leads/commands/finders.ts'
import { REQUEST_ID } from '../../../core/values/request-ids.ts'
import { KEPT_DAYS } from '../decisions/request-age.ts'
import { findRequest } from '../statements/find-by-request.ts'

/** The lead that a request made or named. */
export const requestFinder: Finder = {
  kind: 'find by request',
  where: `X-Request-Ids of the last ${KEPT_DAYS} days`,
  recognizes: (text) => REQUEST_ID.test(text.toLowerCase()),
  find: async ({ sql }, text, { partnerId }) => {
    const request = await findRequest(sql, text.toLowerCase())
    const isWithin = partnerId === undefined || request?.partner_id === partnerId
    const lead = request?.lead_id ?? undefined
    return lead !== undefined && isWithin ? [lead] : []
  },
  remark: async ({ sql }, text) => {
    const request = await findRequest(sql, text.toLowerCase())
    if (request === undefined) return undefined
    const { partner_id: partner, key_id: key, call, status, error_code: code, fields } = request
    const wrong = fields.length > 0 ? `: ${fields.join(', ')}` : ''
    return `That request of partner ${partner}, with key ${key}, was ${call}, answered ${status}${code === null ? '' : ` ${code}`}${wrong}.`
  },
}
