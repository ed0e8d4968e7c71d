import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Sql } from '../../../../core/database/orm.ts'
import { ApiError, retryLater } from '../../../../core/http/errors.ts'
import { showLimit } from '../../../../core/http/rate-limit-headers.ts'
import { type KeyedCall, keyedCalls } from '../../../../core/idempotency/decisions/idempotency-key.ts'
import { idempotencyKeyOf } from '../../../../core/idempotency/routes/idempotency-key.ts'
import type { RouteDependencies } from '../../../../core/http/dependencies.ts'
import { type InSandbox, sandboxOf } from '../../routes/dependencies.ts'
import { type CallFault, HANGS_MS, MOST_HANGING } from '../decisions/fault.ts'
import { expireKey, hasHangs, takeFault } from '../statements/faults.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The calls that faults happen to, as list-requests names them. */
    callsWithFaults: ReadonlySet<string>
  }
}

interface Options extends InSandbox, Pick<RouteDependencies, 'environment'> {
  sql: Sql
  /** Requests per minute of a partner; 0 for no limit. */
  rateLimit: number
}

const PREFIX = '/v1/'
/** What faults never touch: whoever injected one gets rid of it. */
const REMEDIES = ['sandbox/inject-fault', 'sandbox/get-faults', 'sandbox/clear-faults']
/** What the console sends in `X-Requested-With`. */
const CONSOLE = 'console'
/** What a 429 shows where there is no limit. */
const SHOWN_A_MINUTE = 600

/** What a fault sets instead of an answer. */
type Refuse = (reply: FastifyReply, seconds: number) => ApiError

/** Has faults happen to the requests of keys that have some. A request of any other key costs a comparison. */
export const injectedFaults = plugin<Options>(async (app, { sql, rateLimit, ...options }) => {
  const sandbox = sandboxOf(options)
  if (sandbox === undefined) return
  const calls = new Set<string>()
  /** By partner. */
  const hanging = new Map<number, number>()
  const closing = new AbortController()
  app.decorate('callsWithFaults', calls)
  app.addHook('onRoute', ({ url }) => {
    const call = url.slice(PREFIX.length)
    if (!REMEDIES.includes(call)) calls.add(call)
  })
  app.addHook('preClose', async () => closing.abort())

  const refusals: Partial<Record<CallFault, Refuse>> = {
    rate_limited(reply, seconds) {
      showLimit(reply, 'default', {
        most: rateLimit || SHOWN_A_MINUTE,
        windowSeconds: 60,
        left: 0,
        moreInSeconds: seconds,
      })
      return retryLater('RATE_LIMITED', 'Too many requests.', seconds)
    },
    internal_error: () => new ApiError('INTERNAL_ERROR'),
    unavailable: (_, seconds) =>
      retryLater('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', seconds),
  }

  function note(request: FastifyRequest, fault: CallFault): void {
    request.injected = fault
    sandbox?.countFault(fault)
    const { partnerId, routeOptions } = request
    request.log.info({ partner_id: partnerId, route: routeOptions.url, fault }, 'a fault was injected')
  }

  /** @returns false if as many as may hang are there. */
  function takePlace(partnerId: number): boolean {
    const others = hanging.get(partnerId) ?? 0
    if (others >= MOST_HANGING) return false
    hanging.set(partnerId, others + 1)
    return true
  }

  function freePlace(partnerId: number): void {
    const others = (hanging.get(partnerId) ?? 1) - 1
    if (others > 0) hanging.set(partnerId, others)
    else hanging.delete(partnerId)
  }

  async function hang({ raw }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.hijack()
    const left = new AbortController()
    raw.socket.once('close', () => left.abort())
    const signal = AbortSignal.any([left.signal, closing.signal])
    await delay(HANGS_MS, undefined, { signal }).catch(() => {})
    raw.socket.destroy()
    return reply
  }

  async function happen(request: FastifyRequest, reply: FastifyReply, call: string): Promise<unknown> {
    const { keyId, partnerId, id: requestId } = request
    // a place is taken before the fault is: a hundred calls at once would all find one free
    const mayHang = (await hasHangs(sql, keyId, call)) && takePlace(partnerId)
    const kinds = [...AT_ONCE, ...(mayHang ? (['hangs'] as const) : [])]
    let taken: Awaited<ReturnType<typeof takeFault>>
    try {
      taken = await takeFault(sql, keyId, { call, requestId, kinds })
      if (taken !== undefined) note(request, taken.fault)
      if (taken?.fault === 'hangs') return await hang(request, reply)
    } finally {
      if (mayHang) freePlace(partnerId)
    }
    const refusal = taken && refusals[taken.fault]?.(reply, taken.retryAfter ?? 1)
    if (refusal !== undefined) throw refusal
    const key = isKeyed(call) ? idempotencyKeyOf(request) : undefined
    if (key === undefined || !isKeyed(call)) return undefined
    const isExpired = await expireKey(sql, request, { call, key, requestId })
    if (isExpired && taken === undefined) note(request, 'key_expired')
    return undefined
  }

  app.addHook('onRequest', (request, reply, done) => {
    const call = isTouched(request) ? String(request.routeOptions.url).slice(PREFIX.length) : ''
    if (!calls.has(call)) return done()
    happen(request, reply, call).then(() => reply.sent || done(), done)
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.injected === 'answer_lost') request.raw.socket.destroy()
    done()
  })
})

const AT_ONCE = ['rate_limited', 'internal_error', 'unavailable', 'answer_lost'] as const

const isTouched = ({ faultsUntil, headers }: FastifyRequest) =>
  faultsUntil > 0 && faultsUntil > Date.now() && headers['x-requested-with'] !== CONSOLE

const isKeyed = (call: string): call is KeyedCall => keyedCalls.some((known) => known === call)
