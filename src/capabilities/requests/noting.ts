import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Logger } from 'pino'
import type { Sql } from '../../core/database/orm.ts'
import { LARGEST_ID } from '../../core/values/ids.ts'
import type { KeyOwner } from '../../core/partners/statements/keys.ts'
import { createRequestLog } from './request-log.ts'
import type { AnsweredRequest } from './statements/write-requests.ts'

interface Options {
  sql: Sql
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  countUnlisted: (count: number) => void
  /** Whether there is a console, whose requests are not noted: a person makes them who sees the answers. */
  hasConsole: boolean
}

const PREFIX = '/v1/'
/** What the console sends in `X-Requested-With`. */
const CONSOLE = 'console'

/** Notes each answered request of a partner that is known, for list-requests. */
export const requestNotes = plugin<Options>(async (app, { hasConsole, ...options }) => {
  const requests = createRequestLog(options)
  app.addHook('onClose', () => requests.close())
  // onResponse is not called when the sender has gone: then its developer asks most
  app.addHook('onSend', (request, reply, _payload, done) => {
    const owner = request.partnerId > 0 ? request : request.refusedOwner
    if (owner !== undefined && !isLeftOut(request, hasConsole))
      requests.add(owner.partnerId, () => noteOf(request, reply, owner))
    done()
  })
})

function isLeftOut({ headers, waitedInVain }: FastifyRequest, hasConsole: boolean): boolean {
  return waitedInVain === true || (hasConsole && headers['x-requested-with'] === CONSOLE)
}

function noteOf(request: FastifyRequest, reply: FastifyReply, owner: KeyOwner): AnsweredRequest {
  const { failure, routeOptions } = request
  return {
    id: request.id,
    partnerId: owner.partnerId,
    keyId: owner.keyId,
    // a request with a key has a route
    call: String(routeOptions.url).slice(PREFIX.length),
    status: reply.statusCode,
    errorCode: failure?.code ?? null,
    fields: failure?.fields ?? [],
    leadId: leadOf(request),
    durationMs: Math.round(reply.elapsedTime),
  }
}

/** The lead that the request is about, or that its body names where it came no further. */
function leadOf({ leadId, body, failure }: FastifyRequest): number | null {
  const lead = leadId ?? (failure && (body as { lead_id?: unknown } | null | undefined)?.lead_id)
  return Number.isInteger(lead) && Number(lead) > 0 && Number(lead) <= LARGEST_ID ? Number(lead) : null
}
