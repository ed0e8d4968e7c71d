import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ObserveRequest } from '../observe/process-metrics.ts'
import { referralId } from '../temporal/names.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The lead that the request is about, for its log line. */
    leadId: number | undefined
    /** The event that the request recorded itself. */
    eventId: string | undefined
    /** Why authentication failed: for the log only, never for the response. */
    refusal: string | undefined
  }
}

/** The sender left before the response: the status that nginx logs for that. */
const SENDER_LEFT = 499

/**
 * One log line and one measurement for each request, and its id in the response. No header, query or body is
 * logged: they hold keys and personal data.
 */
export function logRequests(app: FastifyInstance, observeRequest: ObserveRequest): void {
  app.decorateRequest('leadId', undefined)
  app.decorateRequest('eventId', undefined)
  app.decorateRequest('refusal', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const { raw } = reply
    // Fastify has no hook for a sender that has left: without these, the slowest requests would be missing
    let isSent = false
    raw.once('finish', () => (isSent = true))
    raw.once('close', () => isSent || observe(request, reply, SENDER_LEFT))
  })
  app.addHook('onResponse', async (request, reply) => observe(request, reply, reply.statusCode))

  function observe(request: FastifyRequest, reply: FastifyReply, status: number): void {
    const { partnerId, keyId, eventId, refusal, method } = request
    const { elapsedTime: elapsedMs } = reply
    const { url: route } = request.routeOptions
    request.log.info(
      {
        ...(partnerId > 0 && { partner_id: partnerId, key_id: keyId }),
        ...leadFields(request),
        ...(eventId !== undefined && { event_id: eventId }),
        ...(refusal !== undefined && { authentication: refusal }),
        method,
        route: route ?? 'none',
        status,
        duration_ms: Math.round(elapsedMs * 10) / 10,
      },
      'request',
    )
    // unknown paths share one series, whatever their method
    const labels = route === undefined ? { method: 'any', route: 'none' } : { method, route }
    observeRequest({ ...labels, status }, elapsedMs / 1000)
  }
}

/** The lead that a line is about, and the workflow to look at in the Web UI. */
export const leadFields = ({ leadId }: FastifyRequest) =>
  leadId === undefined ? {} : { lead_id: leadId, workflow_id: referralId(leadId) }
