import type { Evidence, InjectedFault, WebhookRequest } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** An attempt's lease: until then, its outcome can be written down, also after the files were copied. */
const LEASE_MS = 20_000
/** Requests in flight to one endpoint, at most. */
const ENDPOINT_CAP = 10

/** A webhook is repeated after a 2xx only where its worker could not write the 2xx down, or PostgreSQL lost that. */
export function checkDuplicates({ requests, faults }: Evidence): Verdict[] {
  const restores = faults.filter(({ kind }) => kind === 'restore')
  const causes = faults.filter(keepsFromRecord)
  const left = [...Map.groupBy(requests, ({ id }) => id).values()]
    .flatMap(repeatsOf)
    .filter(({ before }) => !restores.some((fault) => isDuring(fault, before.at, LEASE_MS)))
  const most = causes.length * ENDPOINT_CAP * new Set(requests.map(({ partnerId }) => partnerId)).size
  return [
    verdict('a webhook is sent again though accepted only if a fault hid that', left, ({ before, again }) => {
      const isCaused = causes.some((fault) => isDuring(fault, before.at, LEASE_MS))
      return !isCaused && `${again.id} again after ${Math.round(again.at - before.at)} ms`
    }),
    {
      invariant: 'such a fault repeats at most the ten requests that an endpoint is given at a time',
      count: left.length,
      broken: left.length > most ? [`${left.length} instead of at most ${most}`] : [],
    },
  ]
}

const isDuring = ({ at, until }: InjectedFault, moment: number, forMs = 0) =>
  at <= moment + forMs && until >= moment

/** Whatever a worker does, PostgreSQL is where it writes an outcome down. */
function keepsFromRecord({ kind, on }: InjectedFault): boolean {
  if (!['kill', 'freeze', 'reset', 'silence'].includes(kind)) return false
  return on.startsWith('worker ') || on === 'postgres' || on === 'worker-postgres'
}

/** Requests for what was accepted before, each with the one that was. */
function repeatsOf(requests: WebhookRequest[]) {
  return requests.flatMap((again, index) => {
    const before = requests.slice(0, index).findLast(({ status }) => status === 200)
    return before === undefined ? [] : { before, again }
  })
}
