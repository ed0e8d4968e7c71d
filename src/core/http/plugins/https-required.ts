import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { ApiError } from '../errors.ts'

const PING = '/v1/ping'
const THROUGH_PROXY =
  'Use HTTPS, at the public address of the service. This request came to its port over plain HTTP; if it had a key, others may have read it: ask us to replace it.'

/**
 * Rejects what others could have read on its way, before its key is looked at. Behind TLS proxies, plain HTTP is accepted
 * from these alone, unless they say that a request came to them in plain text; a proxy that sends no X-Forwarded-Proto is
 * assumed to accept only HTTPS. Anyone may send a ping without a key, as balancers do.
 *
 * @param options.isProxy absent where there are no proxies: the API then serves TLS itself, or loopback only.
 */
export const httpsRequired = plugin<{ isProxy: ((address: string) => boolean) | undefined }>(
  async (app, { isProxy }) => {
    if (isProxy === undefined) return
    app.addHook('onRequest', async (request) => {
      const { socket } = request.raw
      if (!isProxy(socket.remoteAddress ?? '')) {
        if ('encrypted' in socket || isKeylessPing(request)) return
        throw new ApiError('HTTPS_REQUIRED', THROUGH_PROXY)
      }
      if (cameInPlainText(request)) throw new ApiError('HTTPS_REQUIRED')
    })
  },
)

const isKeylessPing = ({ routeOptions, headers }: FastifyRequest) =>
  routeOptions.url === PING && headers.authorization === undefined

/** `http` anywhere in the list: a proxy may append to what earlier ones sent. */
const cameInPlainText = ({ headers }: FastifyRequest) =>
  String(headers['x-forwarded-proto'] ?? '')
    .split(',')
    .some((protocol) => protocol.trim().toLowerCase() === 'http')
