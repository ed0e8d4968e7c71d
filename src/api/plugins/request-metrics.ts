import plugin from 'fastify-plugin'
import type { ObserveRequest } from '../../metrics/api.ts'

/** Measures each request once it is answered. What has no route counts as one, whatever its path. */
export const requestMetrics = plugin<{ observeRequest: ObserveRequest }>(async (app, { observeRequest }) => {
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const route = routeOptions.url
    observeRequest({
      // nor do the many methods of HTTP make series of their own
      method: route === undefined ? 'any' : method,
      route: route ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    })
  })
})
