import { median } from './numbers.ts'

/** What the ratio to the floor, or the figure itself, should be. */
export type Aim = { ratioFrom: number } | { ratioTo: number } | { to: number }

/** One line of the table: the same work by the floor and by the service, once for each round. */
export interface Row {
  work: string
  unit: string
  floor: number[]
  service: number[]
  aim?: Aim
  note?: string
}

export interface Judged {
  work: string
  unit: string
  floor: number | null
  service: number
  ratio: number | null
  /** The lowest and the highest ratio of a round. */
  spread: [number, number] | null
  aim: string
  met: boolean | null
  note: string
}

export function judge({ work, unit, floor, service, aim, note = '' }: Row): Judged {
  const pairs = service.slice(0, floor.length).map((value, round) => value / (floor[round] ?? Number.NaN))
  const ratio = pairs.length === 0 ? null : median(pairs)
  const sorted = pairs.toSorted((a, b) => a - b)
  return {
    work,
    unit,
    floor: floor.length === 0 ? null : median(floor),
    service: median(service),
    ratio,
    spread: ratio === null ? null : [sorted[0] ?? ratio, sorted.at(-1) ?? ratio],
    aim: describe(aim, unit),
    met: isMet(aim, median(service), ratio),
    note,
  }
}

function describe(aim: Aim | undefined, unit: string): string {
  if (aim === undefined) return ''
  if ('to' in aim) return `≤ ${aim.to} ${unit}`
  return 'ratioFrom' in aim ? `≥ ${Number(aim.ratioFrom.toFixed(2))} ×` : `≤ ${aim.ratioTo} ×`
}

function isMet(aim: Aim | undefined, service: number, ratio: number | null): boolean | null {
  if (aim === undefined) return null
  if ('to' in aim) return service <= aim.to
  if (ratio === null) return null
  return 'ratioFrom' in aim ? ratio >= aim.ratioFrom : ratio <= aim.ratioTo
}

/** The rows as a table in Markdown, which is read as well in a terminal. */
export function toTable(rows: readonly Judged[]): string {
  const header = ['work', 'unit', 'floor', 'service', 'ratio', 'spread', 'aim', 'met', 'note']
  const lines = rows.map((row) => [
    row.work,
    row.unit,
    shown(row.floor),
    shown(row.service),
    row.ratio?.toFixed(2) ?? '',
    row.spread?.map((ratio) => ratio.toFixed(2)).join('–') ?? '',
    row.aim,
    row.met === null ? '' : row.met ? 'yes' : '**no**',
    row.note,
  ])
  const cells = [header, ...lines]
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const [head, ...body] = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n')
}

function shown(value: number | null): string {
  if (value === null) return ''
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
