#!/usr/bin/env node
import { HELP, listen } from './listen.ts'
import { FAILED, Refusal, USAGE } from './refusal.ts'

const isHelp = (argument: string | undefined) => argument === '--help' || argument === '-h'

async function main([name, ...args]: string[]): Promise<number> {
  const ended = new AbortController()
  const end = () => ended.abort(new Error('asked to end'))
  // the second one ends it at once
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  // whoever reads the output has gone
  process.stdout.on('error', end)
  const write = (line: string) => void process.stdout.write(`${line}\n`)
  const note = (line: string) => void process.stderr.write(`${line}\n`)
  try {
    if (isHelp(name) || (name === 'listen' && args.some(isHelp))) {
      write(HELP)
      return 0
    }
    if (name !== 'listen') {
      const what = name === undefined ? 'Say what to do' : `${name} is no command`
      throw new Refusal(`${what}: prs listen. "prs --help" explains it.`, USAGE)
    }
    return await listen(args, { environment: process.env, write, note, signal: ended.signal })
  } catch (error) {
    if (error instanceof Refusal) {
      note(`prs: ${error.message}`)
      return error.exitCode
    }
    if (ended.signal.aborted) return FAILED
    throw error
  }
}

process.exitCode = await main(process.argv.slice(2))
