import type { Command } from 'commander'
import { findEndpoint, liveSecrets, rotateSecret, setEndpoint } from '../db/endpoints/endpoint.ts'
import { describeReason, healthOf } from '../domain/endpoint.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { checkEndpointUrl } from '../webhooks/endpoint-url.ts'
import { encryptSecret, generateSecret } from '../webhooks/secrets.ts'
import { type Answer, fields } from './answer.ts'
import { overlapMs, partnerId } from './arguments.ts'
import type { StaffContext, Run } from './context.ts'
import { drain, pause, resume } from './endpoint-pause.ts'
import { test } from './endpoint-test.ts'
import { requirePartner } from './partner.ts'
import { Refusal } from './refusal.ts'

export function addEndpointCommands(program: Command, run: Run): void {
  const endpoint = program
    .command('endpoint')
    .description('where partners receive their webhooks: one URL and signing secret each')
    .addHelpText('after', '\nExample:\n  npm run staff -- endpoint set 1 https://lender.example/webhooks')
  const named = (name: string) => endpoint.command(name).argument('<partner>', 'its id', partnerId)
  named('set')
    .description('set the URL; webhooks that wait go out in order, and a first secret is shown once')
    .argument('<url>', 'https://…, of the partner’s server')
    .option('--from-now', 'leave out the webhooks that wait: they are never sent')
    .action(run(set))
  named('show').description('URL, state, and what waits').action(run(show))
  named('rotate-secret')
    .description('make a new signing secret; the one before signs along for the overlap')
    .option('--overlap <time>', 'how long both sign: 0 to 7d', overlapMs, overlapMs('24h'))
    .action(run(rotate))
  named('pause').description('hold all webhooks until a resume').action(run(pause))
  named('resume').description('send again; what waits goes out in order').action(run(resume))
  named('test').description('send one signed webhook of type endpoint_test').action(run(test))
}

export async function set(
  context: StaffContext,
  partner: number,
  url: string,
  { fromNow = false }: { fromNow?: boolean } = {},
): Promise<Answer> {
  const { ENVIRONMENT: environment, WEBHOOK_ALLOW_PRIVATE_NETWORK: allowPrivateNetwork } = context.config
  const fault = checkEndpointUrl(url, { environment, allowPrivateNetwork })
  if (fault !== null) throw new Refusal(`This URL cannot be an endpoint: ${fault.hint}.`)
  const name = await requirePartner(context.sql, partner)
  const secret = generateSecret()
  const ciphertext = encryptSecret(secret, context.config.ENCRYPTION_KEY)
  // paths and queries of webhook URLs can hold passwords
  const detail = { origin: new URL(url).origin, from_now: fromNow }
  const action = { action: 'endpoint.set', partnerId: partner, detail }
  const { id, secretIsNew, canceled } = await context.act(action, async () => {
    const result =
      (await setEndpoint(context.sql, partner, { url, ciphertext, fromNow })) ?? noEndpoint(partner)
    return { result, detail: { canceled: result.canceled } }
  })
  const waiting = await drain(context, id)
  const shown = secretIsNew
    ? `Its signing secret, shown this once:\n\n  ${secret}`
    : `It keeps its signing secret; "endpoint rotate-secret ${partner}" makes a new one.`
  const leftOut = canceled > 0 ? ` ${canceled} waiting webhooks were left out.` : ''
  return {
    json: {
      partner_id: partner,
      endpoint_id: id,
      url,
      state: 'draining',
      secret: secretIsNew ? secret : null,
      canceled_deliveries: canceled,
    },
    text: `Webhooks of ${name} go to ${url}.${leftOut}\n${shown}\n\n${waiting}`,
  }
}

export async function show({ sql }: StaffContext, partner: number): Promise<Answer> {
  const name = await requirePartner(sql, partner)
  const endpoint = (await findEndpoint(sql, partner)) ?? noEndpoint(partner)
  const secrets = await liveSecrets(sql, endpoint.id)
  const { id, ...rest } = endpoint
  const { health, reason, since } = healthOf({ ...endpoint, failingSince: endpoint.failing_since })
  return {
    json: {
      partner_id: partner,
      endpoint_id: id,
      ...rest,
      health,
      secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
    },
    text: fields({
      partner: `${partner}, ${name}`,
      URL: endpoint.url ?? `none yet: npm run staff -- endpoint set ${partner} https://…`,
      health: `${health}: ${describeReason(reason)}`,
      since,
      'open webhooks': endpoint.open_deliveries,
      'live secrets': secrets.length,
    }),
  }
}

export async function rotate(
  context: StaffContext,
  partner: number,
  { overlap }: { overlap: number },
): Promise<Answer> {
  const name = await requirePartner(context.sql, partner)
  const secret = generateSecret()
  const ciphertext = encryptSecret(secret, context.config.ENCRYPTION_KEY)
  await context.change(async ({ sql, audit }) => {
    if ((await rotateSecret(sql, partner, ciphertext, overlap)) === undefined) noEndpoint(partner)
    const detail = { overlap_seconds: overlap / 1000 }
    await audit({ action: 'endpoint.rotate_secret', partnerId: partner, detail })
  })
  const until = new Date(Date.now() + overlap)
  return {
    json: { partner_id: partner, secret, previous_expires_at: until },
    text: [
      `The new signing secret of ${name}, shown this once:\n\n  ${secret}\n`,
      `The one before signs along until ${formatTimestamp(until)} UTC.`,
    ].join('\n'),
  }
}

function noEndpoint(partner: number): never {
  throw new Refusal(`There is no partner ${partner}: see "partner list".`)
}
