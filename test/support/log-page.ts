import { readFileSync } from 'node:fs'
import path from 'node:path'

export interface LogLine extends Record<string, unknown> {
  level: number
  process: string
  msg: string
}

interface PageLine {
  name: string
  levels: string
  processes: string
  fields: string[]
}

const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }

/** What a process has written to its log. */
export function linesOf({ output }: { output: () => string }): LogLine[] {
  const lines = output().split('\n')
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine)
}

const code = (cell: string) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name)

/** docs/operations/log.md, as far as it can be compared with the code. */
export function readLogPage() {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/operations/log.md'), 'utf8')
  const rowsOf = (title: string) => {
    const section = page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
    const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| --'))
    return rows.slice(1).map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  }
  const typed = (title: string) =>
    rowsOf(title).map(([name = '', types = '', example = '']) => ({
      name: code(name)[0] ?? '',
      types: types.split(', '),
      example: code(example)[0] ?? '',
    }))
  const common = typed('On every line')
  const fields = typed('Fields')
  const lines = rowsOf('Lines').flatMap(
    ([names = '', levels = '', processes = '', fieldsOf = '']): PageLine[] => {
      const named = names.startsWith('_') ? [names.replaceAll('_', '')] : code(names)
      return named.map((name) => ({ name, levels, processes, fields: code(fieldsOf) }))
    },
  )
  const typesOf = new Map([...common, ...fields].map(({ name, types }) => [name, types]))
  const commonNames = common.map(({ name }) => name)

  /** What the page calls a line. Those without a name of their own are known by their fields. */
  function rowOf(line: LogLine): PageLine | undefined {
    const own = Object.keys(line).filter((name) => !commonNames.includes(name))
    const named = lines.find(({ name }) => isCalled(line.msg, name))
    if (named !== undefined) return named
    const unnamed = (name: string) => lines.find((row) => row.name === name)
    if ('sdk' in line) return unnamed("a line of Temporal's SDK")
    if ('mail' in line) return unnamed('the subject of an email')
    return own.length === 0 ? unnamed('what is wrong, and what to do') : undefined
  }

  return {
    lines,
    examples: [...common, ...fields],
    /** What of a line is not as the page says. */
    faultsOf(line: LogLine): string[] {
      const row = rowOf(line)
      if (row === undefined) return [`no such line: ${JSON.stringify(line)}`]
      const level = LEVELS[line.level] ?? ''
      const faults = Object.entries(line).flatMap(([name, value]) => {
        if (![...commonNames, ...row.fields].includes(name)) return [`${row.name} has no field ${name}`]
        const types = typesOf.get(name) ?? []
        return types.some((type) => isOf(type, value)) ? [] : [`${name} is ${JSON.stringify(value)}`]
      })
      if (row.levels !== 'any' && row.levels !== level) faults.push(`${row.name} is ${level}`)
      if (!row.processes.includes(line.process)) faults.push(`${row.name} is from ${line.process}`)
      return faults
    },
    /** Whether the page names a line of that text and level. */
    names: (message: string, level: string) =>
      lines.some(({ name, levels }) => isCalled(message, name) && (levels === 'any' || levels === level)),
    used: new Set(lines.flatMap((line) => line.fields)),
    fields: fields.map(({ name }) => name),
  }
}

/** `…` stands for any text. */
function isCalled(message: string, name: string): boolean {
  const [start = '', end] = name.split('…')
  if (end === undefined) return message === name
  return message.startsWith(start) && message.endsWith(end)
}

export function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return typeof value === type
  }
}
