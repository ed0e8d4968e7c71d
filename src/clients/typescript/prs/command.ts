import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Refusal, USAGE } from './refusal.ts'

/** What a command gets from the program that runs it. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>
  /** A line on standard output. */
  write: (line: string) => void
  /** A line on standard error: what a person should know, and no program reads. */
  note: (line: string) => void
  /** Aborts when the command is asked to end. */
  signal: AbortSignal
}

type Options = NonNullable<ParseArgsConfig['options']>

/** Options and positional arguments. */
export function argumentsOf<const Named extends Options>(args: string[], options: Named) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    // its first sentence; others explain how to quote
    const [what = ''] = (error as Error).message.split('. ')
    throw new Refusal(`${what.replace(/\.$/, '')}. "prs listen --help" lists what it takes.`, USAGE)
  }
}
