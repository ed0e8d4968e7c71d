import type { ServiceProcess } from './processes.ts'

/** What a process tells Prometheus: the text, and the value of a series by its name and exact labels. */
export async function scrape({ metricsPort }: Pick<ServiceProcess, 'metricsPort'>) {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}: ${text}`)
  const series = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
        return [`${name} ${labels.split(',').toSorted().join(',')}`, Number(value)]
      }),
  )
  const value = (name: string, labels: Record<string, string> = {}): number | undefined => {
    const pairs = Object.entries(labels).map(([label, content]) => `${label}="${content}"`)
    return series.get(`${name} ${pairs.toSorted().join(',')}`)
  }
  return { text, value }
}
