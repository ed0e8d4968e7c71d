#!/usr/bin/env node
import type { Command } from './command.ts'
import { FAILED, Refusal, USAGE } from './refusal.ts'
import { listen } from './listen.ts'
import { certify } from './self-service/certify.ts'

const commands: readonly Command[] = [
  // each has a line
  listen,
  certify,
]

const HELP = `prs COMMAND

${commands.map(({ name, summary }) => `  ${name.padEnd(9)}${summary}`).join('\n')}

"prs COMMAND --help" explains one.`

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
  if (isHelp(name)) {
    write(HELP)
    return 0
  }
  const command = commands.find((each) => each.name === name)
  try {
    if (command === undefined) {
      const what = name === undefined ? 'Say which command to run' : `${name} is no command`
      throw new Refusal(
        `${what}: ${commands.map((each) => each.name).join(', ')}. "prs --help" explains them.`,
        USAGE,
      )
    }
    if (args.some(isHelp)) {
      write(command.help)
      return 0
    }
    return await command.run(args, { environment: process.env, write, note, signal: ended.signal })
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
