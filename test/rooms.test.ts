import { describe, expect, it } from '@jest/globals'
import { packageRefusal, refusal } from '../.oxlint.rooms.ts'

const leads = 'src/core/leads'
const sandbox = 'src/capabilities/sandbox'

describe('the lint rule for rooms', () => {
  it.each([
    ['the core and a capability', `${leads}/statements/new-lead.ts`, `${sandbox}/decisions/scenarios.ts`],
    ['two capabilities', `${sandbox}/worker.ts`, 'src/capabilities/erasure/worker.ts'],
    ['decisions and statements', `${leads}/decisions/milestones.ts`, `${leads}/statements/ids.ts`],
    ['statements and routes', `${leads}/statements/ids.ts`, `${leads}/routes/create-lead.ts`],
    ['statements and workflows', `${leads}/statements/ids.ts`, `${leads}/workflows/referrals.ts`],
    ['routes and commands', `${leads}/routes/create-lead.ts`, `${leads}/commands/lead.ts`],
    ['commands and routes', `${leads}/commands/lead.ts`, `${leads}/routes/create-lead.ts`],
    ['workflows and statements', 'workflows/recording.ts', `${leads}/statements/recording.ts`],
    ['a room and an entry point', `${leads}/statements/ids.ts`, 'src/server.ts'],
    ['values and a room', 'src/core/values/durations.ts', `${leads}/decisions/milestones.ts`],
    ['settings and statements', 'src/config/schema.ts', `${leads}/statements/ids.ts`],
  ])('keeps apart %s', (_, file, target) => {
    expect(refusal(file, target, false)).toEqual(expect.any(String))
  })

  it.each([
    [
      'a capability and the core',
      `${sandbox}/statements/sinks.ts`,
      'src/core/endpoints/statements/states.ts',
    ],
    [
      'two capabilities in a folder for it',
      `${sandbox}/self-service/routes/use-sink.ts`,
      'src/capabilities/self-service/routes/self-service.ts',
    ],
    ['rooms of the core', `${leads}/statements/ids.ts`, 'src/core/record/statements/generation.ts'],
    ['a room’s offer to the API and its routes', `${sandbox}/api.ts`, `${sandbox}/routes/dependencies.ts`],
    ['a list and a capability', 'src/staff/program.ts', `${sandbox}/commands/lead-advance.ts`],
    ['workflows and decisions', 'workflows/recording.ts', `${leads}/decisions/referral.ts`],
  ])('lets know each other %s', (_, file, target) => {
    expect(refusal(file, target, false)).toBeUndefined()
  })

  it('tells types from values', () => {
    const toActivities = (isType: boolean) =>
      refusal('workflows/activities.ts', 'activities/index.ts', isType)
    expect([toActivities(true), toActivities(false)]).toEqual([undefined, expect.any(String)])
  })

  it('keeps packages out of decisions and workflows', () => {
    expect(packageRefusal(`${leads}/decisions/milestones.ts`, 'zod')).toEqual(expect.any(String))
    expect(packageRefusal('workflows/referral.ts', 'node:fs')).toEqual(expect.any(String))
    expect(packageRefusal('workflows/referral.ts', '@temporalio/workflow')).toBeUndefined()
    expect(packageRefusal(`${leads}/statements/ids.ts`, 'kysely')).toBeUndefined()
  })
})
