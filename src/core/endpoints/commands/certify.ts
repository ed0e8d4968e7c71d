import type { Answer } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'

/** What a certification says of a URL: that it may be set, or what the command answers instead. */
export type Certified = { kind: 'passed'; secret: string } | { kind: 'answered'; answer: Answer }

/**
 * Has a partner's server show that it verifies what we sign, before webhooks go to `url`.
 *
 * @param setAgain the command line that is to be repeated, once the partner has what it needs.
 */
export type Certify = (
  context: StaffContext,
  partner: number,
  url: string,
  setAgain: string,
) => Promise<Certified>
