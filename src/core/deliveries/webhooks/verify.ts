import { Webhook } from 'standardwebhooks'

/** Why a webhook is not valid, as the public library says for the last of `secrets`; `undefined` if one of them signed it. */
export function problemOf(
  secrets: readonly string[],
  body: string,
  headers: Record<string, string>,
): string | undefined {
  let problem = 'there is no signing secret'
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false })
      return undefined
    } catch (error) {
      problem = (error as Error).message
    }
  }
  return problem
}
