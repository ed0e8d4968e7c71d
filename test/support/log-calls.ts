import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')
const CALL = /\blog(?:ger)?\??\.(error|warn|info|debug)\(/g
/** A line's own text, at the end of a call. */
const MESSAGE = /'((?:[^'\\]|\\.)*)',?\s*$/

export interface LogCall {
  file: string
  level: string
  /** `undefined` for one that is put together when it is logged. */
  message: string | undefined
}

/** Each call of a log in the sources of the API and the worker. */
export function logCalls(): LogCall[] {
  const files = globSync('{src/*.ts,src/{core,capabilities,metrics}/**/*.ts,activities/**/*.ts}', {
    cwd: root,
  })
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    return Array.from(text.matchAll(CALL), (call) => {
      const [whole, level = ''] = call
      const [, message] = MESSAGE.exec(argumentsAt(text, call.index + whole.length)) ?? []
      return { file, level, message }
    })
  })
}

/** The text up to the bracket that closes a call. */
function argumentsAt(text: string, start: number): string {
  let depth = 1
  let quote: string | undefined
  let end = start
  for (; depth > 0; end += 1) {
    const character = text[end] ?? ''
    if (quote !== undefined) {
      if (character === '\\') end += 1
      else if (character === quote) quote = undefined
    } else if (`'"\``.includes(character)) quote = character
    else if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character)) depth -= 1
  }
  return text.slice(start, end - 1)
}
