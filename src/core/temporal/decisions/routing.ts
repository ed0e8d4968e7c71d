/** A version of a deployment, as Worker Versioning names it. */
export interface WorkerVersion {
  deploymentName: string
  buildId: string
}

/** Who gets a task queue's work. No version stands for the workers without one. */
export interface Routing {
  current: WorkerVersion | undefined
  ramping: WorkerVersion | undefined
  /** Percent of the workflows that go to `ramping`; 0 if the ramp was removed. */
  share: number
}

const ALL = 100

/**
 * Why the workers of a version, or those without one, get no work, with the command that changes it; `undefined` if they
 * get some.
 *
 * | They are                         | They get                  |
 * | -------------------------------- | ------------------------- |
 * | ramping, with a share above 0    | work                      |
 * | current                          | work                      |
 * | current, and another one has all | none: end that ramp       |
 * | neither                          | none: make it current     |
 */
export function whyIdle(version: WorkerVersion | undefined, routing: Routing): string | undefined {
  const { current, ramping, share } = routing
  if (share > 0 && isSame(version, ramping)) return undefined
  if (!isSame(version, current)) return notCurrent(version, current)
  if (share < ALL) return undefined
  const takesAll = `${ramping === undefined ? 'workers without a version ramp' : `${nameOf(ramping)} ramps`} at 100 percent`
  return `${takesAll}, so ${nameOf(version)} gets no work: ${command('set-ramping-version', ramping, version)} --delete`
}

function notCurrent(version: WorkerVersion | undefined, current: WorkerVersion | undefined): string {
  const why =
    version === undefined
      ? `${nameOf(current)} is current, so a worker without a version gets no work`
      : `${nameOf(version)} is neither current nor ramping, so it gets no work`
  return `${why}: ${command('set-current-version', version, current)}`
}

const isSame = (one: WorkerVersion | undefined, other: WorkerVersion | undefined) =>
  one?.buildId === other?.buildId && one?.deploymentName === other?.deploymentName

function nameOf(version: WorkerVersion | undefined): string {
  return version === undefined
    ? 'a worker without a version'
    : `version ${version.buildId} of ${version.deploymentName}`
}

/** @param other of the same deployment, which has a name where `version` is none. */
function command(verb: string, version: WorkerVersion | undefined, other: WorkerVersion | undefined): string {
  const name = version?.deploymentName ?? other?.deploymentName ?? 'NAME'
  const which = version === undefined ? '--unversioned' : `--build-id ${version.buildId}`
  return `temporal worker deployment ${verb} --yes --deployment-name ${name} ${which}`
}
