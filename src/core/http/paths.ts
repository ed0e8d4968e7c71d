/** The decoded path of a request target, which may also be an absolute URL. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/)
  return decodeURI(path)
}

/** Replaces a path that cannot be decoded by an unknown one: Fastify would respond to it without running our hooks. */
export function readableUrl({ url = '/' }: { url?: string }): string {
  if (!url.includes('%')) return url
  try {
    pathOf(url)
    return url
  } catch {
    return '/%25'
  }
}
