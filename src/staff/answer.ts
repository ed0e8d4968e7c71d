import { formatTimestamp } from '../domain/timestamps.ts'

/** What a command prints: `json` with `--json`, else `text`. */
export interface Answer {
  json: Record<string, unknown>
  text: string
  /** It was done, and the result is bad: exit code 1. */
  failed?: true
}

type Cell = string | number | Date | null | undefined

/** Rows under their headings, in columns. */
export function table(headings: string[], rows: Cell[][]): string {
  const lines = [headings, ...rows.map((row) => row.map(show))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and their values below each other. */
export function fields(values: Record<string, Cell>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length))
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`)
    .join('\n')
}

function show(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-'
  return printable(cell instanceof Date ? formatTimestamp(cell) : String(cell))
}

/** Borrowers' and partners' words without what a terminal would take for commands, on one line. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
