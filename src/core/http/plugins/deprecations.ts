import plugin from 'fastify-plugin'

/** Dates as `2027-03-01`, of which the beginning in UTC counts. */
interface Deprecation {
  /** From when on nobody should begin to use the operation. */
  deprecated: string
  /** From when on it may be gone. */
  sunset: string
}

/** Operations that will go, by path. `docs/changes.md` says how long before. */
const deprecations: Record<string, Deprecation> = {}

/** Says so with each of their responses, and in the reference. Sources: RFC 9745, RFC 8594. */
export const deprecationHeaders = plugin<{ of?: typeof deprecations }>(
  async (app, { of: all = deprecations }) => {
    // no request pays for an empty list
    if (Object.keys(all).length === 0) return
    app.addHook('onRoute', (route) => {
      if (route.url in all && route.schema) route.schema = { ...route.schema, deprecated: true }
    })
    // before authentication: errors say it too
    app.addHook('onRequest', async ({ routeOptions }, reply) => {
      const found = all[routeOptions.url ?? '']
      if (found !== undefined) reply.headers(headersOf(found))
    })
  },
)

const headersOf = ({ deprecated, sunset }: Deprecation) => ({
  deprecation: `@${Date.parse(deprecated) / 1000}`,
  sunset: new Date(sunset).toUTCString(),
})
