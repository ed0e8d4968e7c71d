import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
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

/** Writes to stdout, and resolves once there is room for more. */
export type Write = (text: string) => Promise<void>

/** What a command prints that may be too long to hold at once, with `--json` or without. */
export interface Printed {
  print: (write: Write) => Promise<void>
}

type Cell = string | number | Date | null | undefined

/** Rows under a heading. A column is a field of the row, or a function that makes a cell from it. */
export function table<Row>(rows: Row[], columns: Record<string, keyof Row | ((row: Row) => Cell)>): string {
  const cells = rows.map((row) =>
    Object.values(columns).map((column) =>
      cellText(typeof column === 'function' ? column(row) : (row[column] as Cell)),
    ),
  )
  return align([Object.keys(columns), ...cells])
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
  return printable(cell instanceof Date ? formatTimestamp(cell) : String(cell))
}

/** `text` on one line, without the control characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** How long ago something was, in its two largest units: `3 h 20 min`. */
export function ageText(since: Date, now = new Date()): string {
  return durationText(now.getTime() - since.getTime())
}

/** Milliseconds for people: `120 ms`, `4.2 s`, `3 h 20 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`
  const first = UNITS.findIndex(([, unit]) => ms >= unit)
  let left = ms
  const parts = UNITS.slice(first, first + 2).map(([name, unit]) => {
    const count = Math.floor(left / unit)
    left -= count * unit
    return count === 0 ? '' : `${count} ${name}`
  })
  return parts.filter(Boolean).join(' ')
}

/** The first line of a stream; empty if it has none. */
export async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  return ''
}

const PAUSE_MS = 50

/** Polls `look` until it finds something: what a workflow did is in PostgreSQL a moment later. */
export async function soon<Found>(
  look: () => Promise<Found | undefined>,
  limitMs = 5000,
): Promise<Found | undefined> {
  const end = Date.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined || Date.now() >= end) return found
    await delay(PAUSE_MS)
  }
}
