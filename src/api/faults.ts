export interface Fault {
  instancePath: string
  message?: string
}

/** A body of 64 KiB can have thousands of faulty fields: the answer stays short. */
const MAX_FAULTS = 50
const MAX_NAME = 64

/** One line that names every faulty field, each with what it needs; values are never repeated. */
export function describeFaults(faults: Fault[]): string {
  const lines = faults.slice(0, MAX_FAULTS).map(({ instancePath, message = 'is invalid' }) => {
    const field = instancePath.slice(1)
    return `${field === '' ? 'the request body' : shown(field)} ${message}`
  })
  if (faults.length > MAX_FAULTS) lines.push(`and ${faults.length - MAX_FAULTS} more faults`)
  return `Invalid request: ${lines.join('; ')}.`
}

/** The name as the sender wrote it, if it is one that can be read. */
function shown(name: string): string {
  const readable = name.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
  return readable.length > MAX_NAME ? `${readable.slice(0, MAX_NAME)}…` : readable
}
