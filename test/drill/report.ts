import type { Outcome } from './rehearse.ts'

const HEADER = [
  'disaster',
  'lost: leads, milestones',
  'reaching back',
  'missing once nothing waits',
  'first create-lead after',
  'first webhook after',
  'nothing waits after',
  'alerts',
  'broken',
]

/** What happened as a table in Markdown, below it what was seen, and every invariant that broke. */
export function toReport(outcomes: readonly Outcome[]): string {
  const rows = [HEADER, HEADER.map((name) => '-'.repeat(name.length)), ...outcomes.map(cellsOf)]
  const seen = outcomes.flatMap(({ name, notes }) => notes.map((note) => `- ${name}: ${note}`))
  return [...rows.map((cells) => `| ${cells.join(' | ')} |`), '', ...seen, ...outcomes.flatMap(toLines)].join(
    '\n',
  )
}

/** Each invariant that broke, on a line of its own. */
export function toLines({ name, broken }: Outcome): string[] {
  return broken.map(
    ({ invariant, count, examples }) =>
      `- ${name}: BROKEN ${count} times: ${invariant}: ${examples.join('; ')}`,
  )
}

function cellsOf({ name, lost, missing, seconds, broken, fired }: Outcome): string[] {
  const { lead, webhook, settled } = seconds
  return [
    name,
    `${lost.leads.length}, ${lost.milestones.length}`,
    inSeconds(lost.seconds),
    `${missing.leads}, ${missing.milestones}`,
    ...[lead, webhook, settled].map(inSeconds),
    fired?.join(', ') ?? 'no Prometheus',
    broken.length === 0 ? 'nothing' : String(broken.length),
  ]
}

const inSeconds = (seconds: number) => `${seconds.toFixed(1)} s`
