import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { temporaryFolder } from '../support/folder.ts'
import { runTool, toolPath } from './tools.ts'

const root = path.join(import.meta.dirname, '../..')
const kubernetes = 'docs/deploy/kubernetes'
const manifests = readdirSync(path.join(root, kubernetes), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
  .map((file) => `${kubernetes}/${file}`)

/** By the programs that are made for them, with `npm run test:deploy`. */
describe('the files for a deployment', () => {
  it('Dockerfile passes hadolint', async () => {
    expect(await runTool(toolPath('hadolint'), ['--failure-threshold', 'info', 'Dockerfile'])).toBe('')
  })

  it.each(manifests)('%s fits the schemas of Kubernetes', async (file) => {
    const said = await runTool(toolPath('kubernetes-validate'), ['--strict', file])
    expect(said).toMatch(/passed for resource/)
  })

  it.each(['1.30', '1.33'])('the manifests fit the schemas of Kubernetes %s', async (version) => {
    const args = ['--strict', '--quiet', '--kubernetes-version', version, ...manifests]
    expect(await runTool(toolPath('kubernetes-validate'), args)).toBe('')
  })

  const units = ['api', 'worker'].map((program) => `docs/deploy/systemd/referrals-${program}.service`)

  it('systemd reads the units', async () => {
    if (isMissing('systemd-analyze')) return
    const folder = temporaryFolder()
    for (const unit of units) {
      // it looks for the program, which is not installed here
      const text = readFileSync(path.join(root, unit), 'utf8').replace(
        /^ExecStart=.*/m,
        'ExecStart=/bin/true',
      )
      writeFileSync(path.join(folder, path.basename(unit)), text)
    }
    const copies = units.map((unit) => path.join(folder, path.basename(unit)))
    expect(await runTool('systemd-analyze', ['verify', '--man=no', ...copies])).toBe('')
  })

  it('kustomize builds the manifests', async () => {
    if (isMissing('kubectl')) return
    for (const folder of [kubernetes, `${kubernetes}/jobs`])
      expect(await runTool('kubectl', ['kustomize', folder])).not.toMatch(/image: partner-referral-service$/m)
  })
})

/** Says what is not checked here. */
function isMissing(program: string): boolean {
  const missing = !existsSync(`/usr/bin/${program}`)
  if (missing) process.stderr.write(`no ${program} here: what it reads was not checked\n`)
  return missing
}
