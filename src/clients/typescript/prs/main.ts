#!/usr/bin/env node
import { homedir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { listen } from './listen.ts'
import { Refusal } from './state.ts'

const HELP = `prs listen --forward-to URL

Forwards the webhooks of a sandbox to a receiver on this machine, as the service would send them: the same bytes, each
lead's in order, signed with a secret that this command prints and keeps. Your endpoint gets its own as before.

  --forward-to URL   your receiver, such as http://localhost:3000/webhooks
  --from PLACE       "now", "beginning", or the cursor of an event to go on after
                     By default: where it ended the last time, and "now" the first time
  --api-key KEY      the key of a sandbox; by default $REFERRALS_KEY
  --base-url URL     the address of its API, which ends in /v1; by default $REFERRALS_URL
  --state FOLDER     where the secret and the place are kept; by default $XDG_STATE_HOME/partner-referrals,
                     or ~/.local/state/partner-referrals
  -h, --help

A webhook that is not accepted is tried again, before the next one of its lead; other leads go on. Webhooks come at least
once: after this command was killed, some come again. A 2xx status within 15 seconds accepts a webhook.

Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 the service refused, 2 an argument or a file is unusable.`

const options = {
  'forward-to': { type: 'string' },
  from: { type: 'string' },
  'api-key': { type: 'string' },
  'base-url': { type: 'string' },
  state: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const ended = new AbortController()
const end = () => ended.abort(new Error('asked to end'))
// the second one ends it at once
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
process.stdout.on('error', end) // nobody reads it any more
process.once('uncaughtException', refuse)
const write = (line: string) => void process.stdout.write(`${line}\n`)

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help === true) write(HELP)
  else if (positionals.join(' ') !== 'listen')
    throw new Refusal('Say what to do: prs listen --forward-to URL.')
  else await listen({ ...settingsOf(values), write, signal: ended.signal })
} catch (error) {
  refuse(error)
}

function refuse(error: unknown): void {
  end()
  const { code = '', message } = error as NodeJS.ErrnoException
  if (!(error instanceof Refusal || code.startsWith('ERR_PARSE_ARGS'))) throw error
  process.stderr.write(`prs: ${message}\n`)
  process.exitCode = error instanceof Refusal ? error.exitCode : 2
}

/** Nothing is sent to check them. */
function settingsOf(values: Partial<Record<keyof typeof options, string | boolean>>) {
  const text = (name: keyof typeof options, otherwise = '') => String(values[name] ?? otherwise).trim()
  const apiKey = text('api-key', process.env.REFERRALS_KEY)
  const baseUrl = text('base-url', process.env.REFERRALS_URL).replace(/\/$/, '')
  const url = text('forward-to')
  if (apiKey.startsWith('prs_live_'))
    throw new Refusal(
      'This is a production key: it was not sent. Webhooks of real borrowers do not belong on this machine.',
    )
  if (!/^prs_test_[\w-]+$/.test(apiKey))
    throw new Refusal('Set REFERRALS_KEY to the key of a sandbox, which begins with prs_test_.')
  if (!URL.canParse(baseUrl) || !/^https?:.*\/v1$/.test(baseUrl))
    throw new Refusal('Set REFERRALS_URL to the address of the API, such as http://127.0.0.1:3000/v1.')
  if (!URL.canParse(url) || !/^https?:\/\/[^/]/i.test(url))
    throw new Refusal(
      `${url || 'Nothing'} is not the URL of a receiver, such as http://localhost:3000/webhooks.`,
    )
  const { XDG_STATE_HOME = path.join(homedir(), '.local/state') } = process.env
  const state = text('state', path.join(XDG_STATE_HOME, 'partner-referrals'))
  return { apiKey, baseUrl, url, from: text('from'), state }
}
