/** The path as routes are named: a target may also be a whole URL, and a client may have encoded any letter. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/)
  return decodeURI(path)
}

/** A path that cannot be decoded is an unknown path; Fastify would answer it past all our hooks. */
export function readableUrl({ url = '/' }: { url?: string }): string {
  if (!url.includes('%')) return url
  try {
    pathOf(url)
    return url
  } catch {
    return '/%25'
  }
}
