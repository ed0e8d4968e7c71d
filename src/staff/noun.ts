import type { Command } from 'commander'

/** The command of a noun, such as `lead`, to which another room adds what it can do with one. */
export function nounOf(program: Command, name: string): Command {
  const noun = program.commands.find((command) => command.name() === name)
  if (noun === undefined) throw new Error(`there is no command ${name} yet`)
  return noun
}
