import { createInterface } from 'node:readline'
import { formatTimestamp } from '../values.ts'

/** What a command prints: `json` with `--json`, else `text`. */
export interface Answer {
  json: Record<string, unknown>
  text: string
  /** The command ran, and its result is bad: exit code 1. */
  failed?: boolean
  /** The exit code, whatever `failed` says. */
  exitCode?: number
}

/** An answer that may be too long to hold in memory: JSON, one row a line, with `--json` or without. */
export interface Rows {
  rows: AsyncIterable<object>
}

type Cell = string | number | boolean | object | null | undefined

type Columns<Row> = Record<string, keyof Row | ((row: Row) => Cell)>

/** Rows under a heading. A column is a field of the row, or a function that makes a cell from it; all fields by default. */
export function table<Row extends object>(rows: Row[], columns: Columns<Row> = fieldsOf(rows)): string {
  const cells = rows.map((row) =>
    Object.values(columns).map((column) =>
      cellText(typeof column === 'function' ? column(row) : (row[column] as Cell)),
    ),
  )
  return align([Object.keys(columns), ...cells])
}

function fieldsOf<Row extends object>([row]: Row[]): Columns<Row> {
  const names = Object.keys(row ?? {}) as (keyof Row & string)[]
  return Object.fromEntries(names.map((name) => [name, name]))
}

/** Names and their values, one pair a line. */
export function fields(values: Record<string, Cell>): string {
  return align(Object.entries(values).map(([name, value]) => [name, cellText(value)]))
}

function align(lines: string[][]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number) => cell.padEnd(widths?.[column] ?? 0)
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-'
  if (cell instanceof Date) return formatTimestamp(cell)
  return printable(typeof cell === 'object' ? JSON.stringify(cell) : String(cell))
}

/** `text` on one line, without the control characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}

/** The first line of a stream; empty if it has none. */
export async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  return ''
}
