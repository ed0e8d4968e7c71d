import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { connectionLimits } from '../src/core/http/http-server.ts'
import { programs } from '../src/config/schema.ts'

const root = path.join(import.meta.dirname, '..')

/** The settings of a unit, each with its values in their order. */
function readUnit(program: string): Record<string, string[]> {
  const text = readFileSync(path.join(root, `docs/deploy/systemd/referrals-${program}.service`), 'utf8')
  const settings: Record<string, string[]> = {}
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.*)$/gm)) (settings[name] ??= []).push(value)
  return settings
}

describe.each(['api', 'worker'] as const)('docs/deploy/systemd/referrals-%s.service', (program) => {
  const unit = readUnit(program)

  it('runs the program as package.json does, without npm', () => {
    const scripts = (
      JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    ).scripts
    const [started = ''] = unit.ExecStart ?? []
    expect(started.replace(/^\S+\/node /, 'node ')).toBe(scripts[program === 'api' ? 'server' : program])
    expect(existsSync(path.join(root, started.split(' ').at(-1) ?? ''))).toBe(true)
  })

  it('starts it again, whatever ended it, and lets it finish what is in flight', () => {
    expect(unit).toMatchObject({ Restart: ['always'], StartLimitIntervalSec: ['0'] })
    const drainSeconds = programs.api.shape.DRAIN_SECONDS.parse(undefined)
    // of the worker, the 30 seconds of `workerOptions`
    const needed = program === 'api' ? drainSeconds + connectionLimits.stopMs / 1000 : 30
    expect(Number(unit.TimeoutStopSec)).toBeGreaterThanOrEqual(needed + 10)
  })

  it('confines it, but lets V8 compile', () => {
    expect(unit).toMatchObject({
      User: ['referrals'],
      NoNewPrivileges: ['yes'],
      CapabilityBoundingSet: [''],
      ProtectSystem: ['strict'],
      ProtectHome: ['yes'],
      PrivateTmp: ['yes'],
      SystemCallFilter: ['@system-service', '~@privileged'],
    })
    expect(unit.MemoryDenyWriteExecute).toBeUndefined()
    expect(unit.IPAddressDeny?.[0]?.split(' ')).toEqual(
      expect.arrayContaining(['169.254.0.0/16', 'fd00:ec2::254', 'fd20:ce::254', '168.63.129.16']),
    )
    expect(unit.StateDirectory).toEqual(program === 'worker' ? ['referrals'] : undefined)
  })

  it('holds no setting of the service, and so no secret', () => {
    expect(unit.Environment).toBeUndefined()
    expect(unit.EnvironmentFile).toEqual(['/etc/referrals/both.env', `/etc/referrals/${program}.env`])
  })
})
