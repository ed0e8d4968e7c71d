/** What a partner can do about an answer that was not a success, by its HTTP status. */
export function statusHint(status: number): string {
  return `your endpoint answered ${status}: ${advice(status)}`
}

function advice(status: number): string {
  if (status >= 300 && status < 400) return 'redirects are not followed, register the URL it points to'
  if (status === 401 || status === 403) {
    return 'let requests in without a login, and check the webhook-signature header instead'
  }
  if (status === 404) return 'check the path of the registered URL'
  if (status === 405) return 'it must accept POST'
  if (status === 410) return 'webhooks are paused, ask for a resume when it is back'
  if (status === 413) return 'it must accept bodies of up to 64 KiB'
  if (status === 415) return 'it must accept application/json'
  if (status === 429) return 'it is called again later, after its Retry-After where it sends one'
  if (status >= 500) return 'look for the error in its own log, under the time of this attempt'
  return 'answer 200 to every event, including types you do not use'
}
