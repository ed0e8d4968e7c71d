import type { FastifyReply } from 'fastify'
import type { QuotaState } from '../partners/statements/quotas.ts'

/**
 * Adds a limit and what is left of it to the response, beside those that it has already.
 * Source: draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @param name a string of RFC 9651, without quotes in it.
 */
export function showLimit(reply: FastifyReply, name: string, state: QuotaState): void {
  const { most, windowSeconds, left, moreInSeconds } = state
  add(reply, 'ratelimit-policy', `"${name}";q=${most};w=${windowSeconds}`)
  add(reply, 'ratelimit', `"${name}";r=${left};t=${moreInSeconds}`)
}

function add(reply: FastifyReply, header: string, item: string): void {
  const before = reply.getHeader(header)
  reply.header(header, before === undefined ? item : `${String(before)}, ${item}`)
}
