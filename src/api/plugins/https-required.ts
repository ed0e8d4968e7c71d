import plugin from 'fastify-plugin'
import { ApiError } from '../errors.ts'

/** `http` anywhere in the list: a proxy may append to what earlier ones sent. */
const PLAIN_TEXT = /(?:^|,)\s*http\s*(?:,|$)/i

/**
 * Rejects a request that a trusted proxy received over plain HTTP, where others could read its key. A proxy that
 * sends no X-Forwarded-Proto is assumed to accept only HTTPS. The header of any other client is ignored.
 */
export const httpsRequired = plugin<{ isProxy: (address: string) => boolean }>(async (app, { isProxy }) => {
  app.addHook('onRequest', async ({ headers, raw }) => {
    const protocol = headers['x-forwarded-proto']
    if (protocol === undefined || !PLAIN_TEXT.test(String(protocol))) return
    if (isProxy(raw.socket.remoteAddress ?? '')) throw new ApiError('HTTPS_REQUIRED')
  })
})
