/** Whether a host, as a setting or a URL names it, is this machine. A name other than localhost is not asked for. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host)
}
