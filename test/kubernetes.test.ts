import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { parse, parseAllDocuments } from 'yaml'
import { type Program, programs } from '../src/config/schema.ts'
import { readConfig, readTemporal } from '../src/config.ts'
import { LEASE_MS } from '../src/core/deliveries/decisions/delivery.ts'
import { isAllowedAddress } from '../src/core/deliveries/webhooks/public-address.ts'
import { connectionLimits } from '../src/core/http/http-server.ts'
import { workerOptions } from '../src/core/temporal/worker-options.ts'
import { inNetworks } from '../src/core/values/networks.ts'

const root = path.join(import.meta.dirname, '..')
const folder = path.join(root, 'docs/deploy/kubernetes')
const textOf = (file: string) => readFileSync(path.join(folder, file), 'utf8')
const readme = textOf('README.md')
const compose: { services: Record<string, { command: string[]; mem_limit: string }> } = parse(
  readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'),
  { merge: true },
)

const isManifest = (file: string) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isManifest)
const manifests: Manifest[] = files.flatMap((file) =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS() as Manifest),
)
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name)

const pods = manifests.flatMap(({ kind, metadata, spec }) => {
  const pod = kind === 'Pod' ? { metadata, spec } : spec?.template
  return pod === undefined ? [] : [{ ...(pod as Pod), program: componentOf(pod.metadata) as Program }]
})
const podOf = (program: string) => {
  const found = pods.find((pod) => pod.program === program)
  if (found === undefined) throw new Error(`no pod of ${program}`)
  return { ...found, container: containerOf(found) }
}
const each = pods.map(({ program }) => program)

function componentOf({ labels }: Metadata): string {
  return labels?.['app.kubernetes.io/component'] ?? ''
}

function containerOf({ spec: { containers } }: Pod): Container {
  const [container, ...others] = containers
  if (container === undefined || others.length > 0) throw new Error('a pod has one container')
  return container
}

/** The keys of each Secret, by the table of README.md. */
const secretKeys = Object.fromEntries(
  Array.from(readme.matchAll(/^\| `(referrals-[\w-]+)` +\| (.*?) +\|/gm), ([, name = '', cell = '']) => [
    name,
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, key = '']) => key),
  ]),
)

/** What somebody writes into them. */
const secrets: Record<string, string> = {
  DATABASE_URL: 'postgresql://referrals_service:secret@db.example.com/referrals?sslmode=verify-full',
  MIGRATION_DATABASE_URL: 'postgresql://referrals:secret@db.example.com/referrals?sslmode=verify-full',
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  SMTP_URL: 'smtps://mail.example.com',
  SCORE_PROVIDER_TOKEN: 'of-the-provider',
}

function environmentOf({ envFrom, env = [] }: Container): Record<string, string> {
  const taken = envFrom.map(({ configMapRef, secretRef }) => {
    if (configMapRef) return named('ConfigMap', configMapRef.name)?.data ?? {}
    const keys = secretRef?.optional ? [] : (secretKeys[secretRef?.name ?? ''] ?? [])
    return Object.fromEntries(keys.map((key) => [key, secrets[key] ?? '']))
  })
  return Object.assign({}, ...taken, ...env.map(({ name, value }) => ({ [name]: value })))
}

describe('docs/deploy/kubernetes', () => {
  it('has a pod of each program', () => {
    expect(each.toSorted()).toEqual(Object.keys(programs).toSorted())
  })

  it.each(each)('gives %s nothing that it does not read', (program) => {
    const { container } = podOf(program)
    const read = Object.keys(programs[program].shape)
    const isTemporal = (name: string) => program !== 'migrate' && name.startsWith('TEMPORAL_')
    const given = container.envFrom.flatMap(({ configMapRef, secretRef }) =>
      configMapRef
        ? Object.keys(named('ConfigMap', configMapRef.name)?.data ?? {})
        : (secretKeys[secretRef?.name ?? ''] ?? []),
    )
    const all = [...given, ...(container.env ?? []).map(({ name }) => name)]
    expect(all.length).toBeGreaterThan(2)
    expect(all.filter((name) => !read.includes(name) && !isTemporal(name))).toEqual([])
  })

  it('gives staff every setting that the worker has and both read, where RETENTION_LEADS_DAYS is to be written, too', () => {
    const mapsOf = (program: string) =>
      podOf(program).container.envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? [])
    const ofStaff = mapsOf('staff')
    expect(ofStaff).toContain('referrals-retaining')
    expect(mapsOf('worker')).toContain('referrals-retaining')
    const others = mapsOf('worker').filter((name) => !ofStaff.includes(name))
    const settings = others.flatMap((name) => Object.keys(named('ConfigMap', name)?.data ?? {}))
    expect(settings.filter((name) => name in programs.staff.shape)).toEqual([])
  })

  it.each(each)('has %s start with what it gives, as production', (program) => {
    const environment = environmentOf(podOf(program).container)
    const config = readConfig(program, {}, environment)
    expect(config.ENVIRONMENT).toBe('production')
    if (program === 'migrate') return
    expect(readTemporal(config, environment).connectionOptions.tls).toBeTruthy()
  })

  it('names only settings that docs/settings.md lists', () => {
    const settings = readFileSync(path.join(root, 'docs/settings.md'), 'utf8')
    const names = [
      ...ofKind('ConfigMap').flatMap(({ data }) => Object.keys(data ?? {})),
      ...Object.values(secretKeys).flat(),
      ...pods.flatMap((pod) => (containerOf(pod).env ?? []).map(({ name }) => name)),
    ]
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => !settings.includes(`\`${name}\``))).toEqual([])
  })

  it('holds no secret, and README.md lists each that is taken', () => {
    expect(ofKind('Secret')).toEqual([])
    const written = ofKind('ConfigMap').flatMap(({ data }) => Object.keys(data ?? {}))
    expect(written.filter((name) => /KEY|PASSWORD|TOKEN|DATABASE_URL|SMTP_URL|CERT/.test(name))).toEqual([])
    const taken = pods.flatMap((pod) =>
      containerOf(pod).envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
    )
    const listed = Object.keys(secretKeys).filter((name) => name !== 'referrals-api-tls')
    expect([...new Set(taken)].toSorted()).toEqual(listed.toSorted())
  })

  it.each(each.filter((program) => program !== 'staff'))('runs %s by the command of the image', (program) => {
    const { command, resources } = podOf(program).container
    expect(command).toEqual(compose.services[program]?.command)
    expect(existsSync(path.join(root, command[1] ?? ''))).toBe(true)
    const [, size, unit] = /^(\d+)([mg])$/.exec(compose.services[program]?.mem_limit ?? '') ?? []
    expect(resources.limits.memory).toBe(`${size}${unit?.toUpperCase()}i`)
  })

  it.each(each)('confines %s', (program) => {
    const { spec, container } = podOf(program)
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // `node` in the image
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp' })
    const volumes = spec.volumes.map(({ name }) => name).toSorted()
    expect(volumes).toEqual(container.volumeMounts.map(({ name }) => name).toSorted())
  })

  it('mounts the journal where it is erased or erased again, and where the setting says', () => {
    const mounting = pods.filter((pod) =>
      containerOf(pod).volumeMounts.some(({ name }) => name === 'erasures'),
    )
    const reading = each.filter((program) => 'ERASURE_JOURNAL' in programs[program].shape)
    expect(mounting.map(({ program }) => program).toSorted()).toEqual(reading.toSorted())
    for (const pod of mounting) {
      const { mountPath } = containerOf(pod).volumeMounts.find(({ name }) => name === 'erasures') ?? {}
      expect(mountPath).toBe(environmentOf(containerOf(pod)).ERASURE_JOURNAL)
    }
    expect(named('PersistentVolumeClaim', 'referrals-erasures')?.spec).toMatchObject({
      accessModes: ['ReadWriteMany'],
    })
  })

  it.each(['api', 'worker'] as const)('finds %s at its ports', (program) => {
    const { metadata, container } = podOf(program)
    const environment = environmentOf(container)
    const ports = Object.fromEntries(container.ports?.map((port) => [port.name, port.containerPort]) ?? [])
    expect(ports.metrics).toBe(Number(environment.METRICS_PORT))
    expect(metadata.annotations?.['prometheus.io/port']).toBe(environment.METRICS_PORT)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const)
      expect(container[probe]?.httpGet).toEqual({
        path: probe === 'readinessProbe' ? '/readyz' : '/livez',
        port: 'metrics',
      })
    expect(ports.http).toBe(program === 'api' ? Number(environment.PORT) : undefined)
  })

  it.each(['api', 'worker'] as const)('selects the pods of %s, and only these', (program) => {
    const { labels } = podOf(program).metadata
    const name = `referrals-${program}`
    expect(named('Deployment', name)?.spec?.selector).toEqual({ matchLabels: labels })
    expect(named('PodDisruptionBudget', name)?.spec?.selector).toEqual({ matchLabels: labels })
    expect(componentOf({ labels: labels ?? {} })).toBe(program)
  })

  it('gives the API time to drain and to finish what is in flight', () => {
    const { spec, container } = podOf('api')
    const drainSeconds = Number(environmentOf(container).DRAIN_SECONDS)
    const needed = drainSeconds + connectionLimits.stopMs / 1000
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed + 10)
  })

  it('gives the worker time for the longest attempt', () => {
    const options = workerOptions({
      WORKER_WORKFLOW_TASKS: 20,
      WORKER_ACTIVITIES: 100,
      WORKER_CACHED_WORKFLOWS: 500,
      TEMPORAL_DEPLOYMENT_NAME: undefined,
      TEMPORAL_WORKER_BUILD_ID: undefined,
    })
    const [, force] = /^(\d+) seconds$/.exec(options.shutdownForceTime) ?? []
    expect(Number(force) * 1000).toBeGreaterThan(LEASE_MS)
    expect(podOf('worker').spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(force) + 10)
  })

  it('builds all from one image, and from every file', () => {
    const [above, jobs] = ['kustomization.yaml', 'jobs/kustomization.yaml'].map(
      (file) => parse(textOf(file)) as { images: object[]; resources: string[] },
    )
    expect(above?.images).toEqual(jobs?.images)
    const built = [...(above?.resources ?? []), ...(jobs?.resources.map((file) => `jobs/${file}`) ?? [])]
    expect(built.toSorted()).toEqual(files.filter((file) => file !== 'staff.yaml').toSorted())
  })

  describe('its network', () => {
    const internet = named('NetworkPolicy', 'referrals-internet')?.spec as unknown as Policy
    const blocks = internet.egress.flatMap(({ to }) => to.map(({ ipBlock }) => ipBlock))
    const ways = blocks.map(({ cidr, except }) => ({
      // `networkOf` would refuse this one, because it is every address
      isIn: cidr === '0.0.0.0/0' ? (address: string) => !address.includes(':') : inNetworks([cidr]),
      isExcepted: inNetworks(except),
    }))
    const isOpen = (address: string) =>
      ways.some(({ isIn, isExcepted }) => isIn(address) && !isExcepted(address))
    const isAllowed = (address: string) => isAllowedAddress(address, { allowPrivateNetwork: false })

    it.each([
      '169.254.169.254',
      'fd00:ec2::254',
      'fd20:ce::254',
      '168.63.129.16',
      '10.96.0.1',
      '100.100.100.200',
    ])('keeps a worker from %s', (address) => expect(isOpen(address)).toBe(false))

    it('lets a worker reach what the service’s own guard allows, and nothing else', () => {
      const edges = blocks
        .flatMap(({ cidr, except }) => [cidr, ...except])
        .map((cidr) => cidr.split('/')[0] ?? '')
      const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom(...edges))
      const global = fc
        .tuple(fc.constantFrom('2001', '2002', '2606', '2620', '3fff'), fc.ipV6())
        .map(([first, other]) => new URL(`http://[${other}]`).hostname.slice(1, -1).replace(/^[^:]*/, first))
      fc.assert(
        fc.property(fc.oneof(address, global), (one) => {
          expect({ one, open: isOpen(one) }).toEqual({ one, open: isAllowed(one) })
        }),
        { numRuns: 2000 },
      )
    })

    it('is closed for what no policy names', () => {
      expect(named('NetworkPolicy', 'referrals-nobody')?.spec).toEqual({
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
      })
      const reaching = internet.podSelector.matchExpressions.flatMap(({ values }) => values)
      expect(reaching).toEqual(['worker', 'staff'])
    })
  })
})

interface Metadata {
  name?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

interface Manifest {
  kind: string
  metadata: Metadata
  data?: Record<string, string>
  spec?: Record<string, unknown> & { template?: Pod }
}

interface Pod {
  metadata: Metadata
  spec: {
    terminationGracePeriodSeconds: number
    containers: Container[]
    volumes: { name: string }[]
  }
}

interface Container {
  command: string[]
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string; optional?: boolean } }[]
  env?: { name: string; value: string }[]
  ports?: { name: string; containerPort: number }[]
  resources: { limits: { memory: string } }
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface Policy {
  podSelector: { matchExpressions: { values: string[] }[] }
  egress: { to: { ipBlock: { cidr: string; except: string[] } }[] }[]
}
