import { Refusal, USAGE } from './refusal.ts'

export interface SandboxKey {
  apiKey: string
  baseUrl: string
}

interface Given {
  'api-key'?: string | undefined
  'base-url'?: string | undefined
}

const SANDBOX = 'prs_test_'
const PRODUCTION = 'prs_live_'

/** The key and the address of a sandbox, from options or the environment. Nothing is sent to find them out. */
export function sandboxKeyOf(
  options: Given,
  environment: Readonly<Record<string, string | undefined>>,
): SandboxKey {
  const apiKey = (options['api-key'] ?? environment.REFERRALS_KEY ?? '').trim()
  const baseUrl = (options['base-url'] ?? environment.REFERRALS_URL ?? '').trim()
  if (apiKey.startsWith(PRODUCTION))
    throw new Refusal(
      `This is a production key: it was not sent. Webhooks of real borrowers do not belong on this machine; use a key of the sandbox, which begins with ${SANDBOX}.`,
      USAGE,
    )
  if (!/^prs_test_[\w-]+$/.test(apiKey))
    throw new Refusal(
      `${apiKey === '' ? 'There is no API key' : 'The API key is not one'}: set REFERRALS_KEY to the key of a sandbox, which begins with ${SANDBOX}, or give --api-key.`,
      USAGE,
    )
  if (!URL.canParse(baseUrl) || !/^https?:.*\/v1\/?$/.test(baseUrl))
    throw new Refusal(
      `${baseUrl === '' ? 'There is no address of the API' : 'The address of the API is not one'}: set REFERRALS_URL to a URL that ends in /v1, such as http://127.0.0.1:3000/v1, or give --base-url.`,
      USAGE,
    )
  return { apiKey, baseUrl: baseUrl.replace(/\/$/, '') }
}

/** Where webhooks are sent to. */
export function receiverUrl(url: string | undefined, how: string): string {
  if (url === undefined) throw new Refusal(`Say where your receiver is: ${how}.`, USAGE)
  if (!URL.canParse(url) || !/^https?:\/\/[^/]/i.test(url))
    throw new Refusal(`${url} is not the URL of a receiver: ${how}.`, USAGE)
  return url
}
