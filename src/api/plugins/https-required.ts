import plugin from 'fastify-plugin'
import { ApiError } from '../../errors.ts'

/** A way that a proxy names in plain text; it may name the ways before its own too. */
const PLAIN_TEXT = /(?:^|,)\s*http\s*(?:,|$)/i

/**
 * Refuses a request that the TLS proxy itself received over plain HTTP: its key has crossed a network where
 * anybody could read it, and would do so again. A proxy that does not say is believed to take HTTPS only, and
 * what anybody else says counts for nothing.
 */
export const httpsRequired = plugin<{ isProxy: (address: string) => boolean }>(async (app, { isProxy }) => {
  app.addHook('onRequest', async ({ headers, raw }) => {
    const protocol = headers['x-forwarded-proto']
    if (protocol === undefined || !PLAIN_TEXT.test(String(protocol))) return
    if (isProxy(raw.socket.remoteAddress ?? '')) throw new ApiError('HTTPS_REQUIRED')
  })
})
