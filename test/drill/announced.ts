import { referralId } from '../../src/core/temporal/names.ts'
import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Loss } from './loss.ts'
import { CONTACT, type Stack } from './stack.ts'

/** What `staff record show --json` answers, as far as it is read here. */
interface Shown {
  restores: { generation: number; finished_at: string | null }[]
  losses: { lead_id: number; event_name: string | null; is_recorded_again: boolean }[]
}

/**
 * Whether staff are shown what a restore lost, and the partner was told of it. A lead whose workflow had not started when the
 * record was lost is known to nobody.
 *
 * @param restores how many there were by now.
 */
export async function checkAnnounced(
  stack: Stack,
  lost: Loss,
  restores: number,
  notes: string[],
): Promise<Broken[]> {
  const show = async () => (await stack.staff('record', 'show')) as unknown as Shown
  let shown = await show()
  await until(async () => {
    shown = await show()
    return shown.restores.at(-1)?.finished_at !== null
  }).catch(() => undefined)
  const { losses } = shown
  const unlisted = lost.leads.filter(
    ({ leadId }) => !losses.some(({ lead_id: id, event_name: name }) => id === leadId && name === null),
  )
  const known = await Promise.all(unlisted.map(({ leadId }) => hasWorkflow(stack, leadId)))
  const forgotten = unlisted.filter((_, index) => !known[index])
  notes.push(`lost without a trace, because their workflows had not started: ${forgotten.length} leads`)
  const told = stack.mail.mails.filter(
    ({ to, content }) => to === CONTACT && content.includes('Our database was restored'),
  )
  const mails = told.length >= restores ? [] : [`${told.length} mails after ${restores} restores`]
  const generations = shown.restores.length === restores ? [] : [JSON.stringify(shown.restores)]
  return [
    ...brokenBy('each restore begins one generation', generations),
    ...brokenBy(
      'a lost lead is listed',
      unlisted.filter((_, index) => known[index]).map(({ leadId }) => `lead ${leadId}`),
    ),
    ...brokenBy('the partner is told', mails),
  ]
}

async function hasWorkflow({ service: { client } }: Stack, leadId: number): Promise<boolean> {
  const described = client.workflow.getHandle(referralId(leadId)).describe()
  return described.then(
    () => true,
    () => false,
  )
}
