import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { ApiError } from './errors.ts'

const PING = '/v1/ping'
const THROUGH_PROXY =
  'Use HTTPS, at the public address of the service. This request came to its port over plain HTTP; if it had a key, others may have read it: ask us to replace it.'
const PROXY_SAYS_NOTHING =
  'The service cannot tell whether this request was sent over HTTPS, because its proxy sends no X-Forwarded-Proto: tell us.'

/**
 * Rejects what others could have read on its way, before its key is looked at. Behind TLS proxies, plain HTTP is accepted
 * from these alone, and only if they say with X-Forwarded-Proto that the request came to them over HTTPS: a proxy that is
 * silent may also listen on port 80. Anyone may send a ping without a key, as balancers do.
 *
 * @param options.isProxy absent where there are no proxies: the API then serves TLS itself, or is a sandbox on loopback.
 */
export const httpsRequired = plugin<{ isProxy: ((address: string) => boolean) | undefined }>(
  async (app, { isProxy }) => {
    if (isProxy === undefined) return
    let isSaid = false

    function saySilent(address: string): void {
      if (!isSaid)
        app.log.error(
          `${address} is named in TRUST_PROXY and sends no X-Forwarded-Proto: what it forwards is refused, because it may have come over plain HTTP. Have the proxy set this header; see “HTTPS” in docs/run.md.`,
        )
      isSaid = true
    }

    app.addHook('onRequest', async (request) => {
      const { socket } = request.raw
      const address = socket.remoteAddress ?? ''
      if (!isProxy(address)) {
        if ('encrypted' in socket || isKeylessPing(request)) return
        throw new ApiError('HTTPS_REQUIRED', THROUGH_PROXY)
      }
      const ways = forwardedProtocols(request)
      if (ways.some((way) => way !== 'https')) throw new ApiError('HTTPS_REQUIRED')
      if (ways.length > 0 || isKeylessPing(request)) return
      saySilent(address)
      throw new ApiError('HTTPS_REQUIRED', PROXY_SAYS_NOTHING)
    })
  },
)

const isKeylessPing = ({ routeOptions, headers }: FastifyRequest) =>
  routeOptions.url === PING && headers.authorization === undefined

/** One for each proxy on the way: each may append to what earlier ones sent. */
const forwardedProtocols = ({ headers }: FastifyRequest) =>
  String(headers['x-forwarded-proto'] ?? '')
    .split(',')
    .flatMap((protocol) => protocol.trim().toLowerCase() || [])
