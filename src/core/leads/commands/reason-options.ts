import { type Command, Option } from 'commander'
import { REFERENCE } from '../decisions/reasons.ts'
import { matching, oneOf } from '../../../staff/arguments.ts'

/** Options of a command that cannot be undone, or that staff may have to justify. */
export interface Given<Reason extends string> {
  reason: Reason
  /** A case number. */
  reference?: string | undefined
}

const RULE = '1 to 40 capital letters, digits and hyphens, such as CASE-26-118'
const referenceOf = matching(REFERENCE, `Use ${RULE}: a case number, no personal data.`)

/** Gives a command `--reason`, which is one of `reasons`, and `--reference`. Its help says what each reason means. */
export function addReason(
  command: Command,
  reasons: Readonly<Record<string, string>>,
  { isOptional = false }: { isOptional?: boolean } = {},
): Command {
  const names = Object.keys(reasons)
  const meanings = Object.entries(reasons).map(([name, meaning]) => `  ${name.padEnd(20)}${meaning}`)
  const reason = new Option('--reason <reason>', `why: one of ${names.join(', ')}`)
  return command
    .addOption(reason.argParser(oneOf(names)).makeOptionMandatory(!isOptional))
    .option('--reference <number>', `a case number of yours: ${RULE}`, referenceOf)
    .addHelpText('after', ['\nReasons:', ...meanings].join('\n'))
}

/** As the audit takes it. */
export const detailOf = ({ reason, reference }: Given<string>) => ({
  reason,
  ...(reference !== undefined && { reference }),
})
