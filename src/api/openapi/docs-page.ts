import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** The API reference at /docs. It loads nothing from other hosts. */
export async function docsPage(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP:
      "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    uiHooks: {
      onRequest: (request, _reply, done) => void app.limitAddress(request).then(() => done(), done),
    },
    uiConfig: {
      validatorUrl: null,
      defaultModelsExpandDepth: -1,
      docExpansion: 'list',
      tryItOutEnabled: false,
    },
    theme: {
      title: 'Partner Referral Service: API reference',
      css: [{ filename: 'reference.css', content: '#swagger-ui .topbar { display: none }' }],
    },
  })
}
