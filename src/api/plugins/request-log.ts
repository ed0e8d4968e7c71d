import plugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /** The lead that the request is about, for its log line. */
    leadId: number | undefined
    /** Why authentication failed: for the log only, never for the answer. */
    refusal: string | undefined
  }
}

/** One line for each request, and its id in the answer. No header, query or body: they hold keys and people. */
export const requestLog = plugin(async (app) => {
  app.decorateRequest('leadId', undefined)
  app.decorateRequest('refusal', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { partnerId, leadId, refusal } = request
    request.log.info(
      {
        ...(partnerId > 0 && { partner_id: partnerId }),
        ...(leadId !== undefined && { lead_id: leadId }),
        ...(refusal !== undefined && { authentication: refusal }),
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
  })
})
