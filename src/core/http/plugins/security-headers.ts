import plugin from 'fastify-plugin'

/** Responses hold personal data: they must not be cached, framed, sniffed, rendered as a page, or fetched without TLS. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
}

export const securityHeaders = plugin(async (app) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
})
