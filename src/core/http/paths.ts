/** The decoded path of a request target, which may also be an absolute URL. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/)
  return decodeURI(path)
}

/**
 * Replaces a target that cannot be decoded by an unknown path: Fastify would respond to it without running our hooks. The
 * whole target, because the router and `pathOf` may differ in where the path begins.
 */
export function readableUrl({ url = '/' }: { url?: string }): string {
  if (!url.includes('%')) return url
  try {
    decodeURI(url.split(/[?#]/, 1)[0] ?? '')
    return url
  } catch {
    return '/%25'
  }
}
