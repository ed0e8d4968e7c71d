import type { ServiceProcess } from './processes.ts'

/**
 * What a process tells Prometheus: the text, and the value of a series by its name and exact labels. Every series has the
 * process's `build`: it may be left out.
 */
export async function scrape({ metricsPort }: Pick<ServiceProcess, 'metricsPort'>) {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}: ${text}`)
  const series = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .flatMap((line) => {
        const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
        const pairs = labels.split(',').toSorted()
        const others = pairs.filter((pair) => !pair.startsWith('build='))
        return [pairs, others].map((some) => [`${name} ${some.join(',')}`, Number(value)] as const)
      }),
  )
  const value = (name: string, labels: Record<string, string> = {}): number | undefined => {
    const pairs = Object.entries(labels).map(([label, content]) => `${label}="${content}"`)
    return series.get(`${name} ${pairs.toSorted().join(',')}`)
  }
  return { text, value }
}
