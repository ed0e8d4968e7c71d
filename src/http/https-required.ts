import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'

/**
 * Rejects a request that others could have read on its way, before its key is looked at. Behind TLS proxies, plain HTTP is
 * accepted from them alone, and only if X-Forwarded-Proto says that the request reached them over HTTPS: a proxy without this
 * header may also listen on port 80. Anyone may send a ping without a key, as balancers do.
 *
 * @param isProxy absent where there are no proxies: the API then serves TLS itself, or is a sandbox on loopback.
 */
export function requireHttps(
  app: FastifyInstance,
  isProxy: ((address: string) => boolean) | undefined,
): void {
  if (isProxy === undefined) return
  app.addHook('onRequest', async (request) => {
    const { socket } = request.raw
    const isKeylessPing =
      request.routeOptions.url === '/v1/ping' && request.headers.authorization === undefined
    if (!isProxy(socket.remoteAddress ?? '')) {
      if ('encrypted' in socket || isKeylessPing) return
      throw new ApiError('HTTPS_REQUIRED')
    }
    const protocols = forwardedProtocols(request)
    if (protocols.length === 0) {
      if (isKeylessPing) return
      request.log.error('The proxy sends no X-Forwarded-Proto: see “HTTPS” in docs/run.md.')
    }
    if (protocols.length === 0 || protocols.some((protocol) => protocol !== 'https'))
      throw new ApiError('HTTPS_REQUIRED')
  })
}

/** One for each proxy on the way: each may append to what earlier ones sent. */
const forwardedProtocols = ({ headers }: FastifyRequest) =>
  String(headers['x-forwarded-proto'] ?? '')
    .split(',')
    .flatMap((protocol) => protocol.trim().toLowerCase() || [])

/** Tells whether an address is a trusted proxy, also if it is an IPv4-mapped IPv6 address. */
export function proxiesOf(trustProxy: string | undefined): (address: string) => boolean {
  const proxies = new BlockList()
  for (const proxy of trustProxy?.split(',') ?? []) {
    const [address = '', bits] = proxy.trim().split('/')
    const isIpv6 = isIP(address) === 6
    proxies.addSubnet(address, Number(bits ?? (isIpv6 ? 128 : 32)), isIpv6 ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    // a zone is an interface of one machine
    const version = address.includes('%') ? 0 : isIP(address)
    return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}
