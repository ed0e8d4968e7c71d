/** The floor's and the service's. */
export interface Pair<Value> {
  floor: Value
  service: Value
}

/** One line of the table: the same work by the floor, if there is one, and by the service, once for each round. */
export interface Row extends Partial<Pair<number[]>> {
  work: string
  unit: string
  service: number[]
  /** What the ratio to the floor should be, or without a floor the figure itself. */
  aim?: { from: number } | { to: number }
}

/** Floor and service in turn, so that other load on the machine hits both. */
export async function inTurn<Side, Result>(
  { floor, service }: Pair<Side>,
  rounds: number,
  measure: (side: Side, round: number) => Promise<Result>,
): Promise<Pair<Result[]>> {
  const results: Pair<Result[]> = { floor: [], service: [] }
  for (let round = 0; round < rounds; round++) {
    results.floor.push(await measure(floor, round))
    results.service.push(await measure(service, round))
  }
  return results
}

/** One figure of each result. */
export const figures = <Result>({ floor, service }: Pair<Result[]>, of: (result: Result) => number) => ({
  floor: floor.map(of),
  service: service.map(of),
})

/** The rows as a table in Markdown, which is read as well in a terminal. */
export function toTable(rows: readonly Row[]): string {
  const header = ['work', 'unit', 'floor', 'service', 'ratio', 'spread', 'aim', 'met']
  const cells = [header, ...rows.map(cellsOf)]
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const [head, ...body] = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n')
}

function cellsOf({ work, unit, floor, service, aim }: Row): string[] {
  const ratios = floor?.map((value, round) => (service[round] ?? Number.NaN) / value)
  const judged = median(ratios ?? service)
  const spread =
    ratios && [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join('–')
  const aimed = ratios ? '×' : unit
  return [
    work,
    unit,
    floor ? shown(median(floor)) : '',
    shown(median(service)),
    ratios ? judged.toFixed(2) : '',
    spread ?? '',
    aim ? ('to' in aim ? `≤ ${aim.to} ${aimed}` : `≥ ${aim.from} ${aimed}`) : '',
    aim ? (('to' in aim ? judged <= aim.to : judged >= aim.from) ? 'yes' : '**no**') : '',
  ]
}

const shown = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

/** The value below which `share` of all lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Of an even number of values the mean of the two in the middle, since rounds are few. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2
}
