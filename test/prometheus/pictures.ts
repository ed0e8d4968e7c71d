import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { openTab, startBrowser } from '../browser/browser.ts'
import { type Dashboard, FOLDER, type Panel } from './dashboards.ts'
import type { Prometheus, Range } from './prometheus.ts'
import { shorterRanges } from './scaled-rules.ts'

const COLUMN = 60
const ROW = 34
const WIDTH = 24 * COLUMN
const COLOURS = ['#3274d9', '#e0752d', '#37872d', '#c4162a', '#8f3bb8', '#b59400', '#1f9a8a', '#777']
const LEGEND_ROWS = 4

interface Seen {
  range: Range
  /** How much faster time passed. */
  factor: number
}

/** Pictures of the dashboards with what a Prometheus has seen: plain lines, for pages, not Grafana's own. */
export async function drawDashboards(
  prometheus: Prometheus,
  { folder, ...seen }: Seen & { folder: string },
): Promise<void> {
  const browser = await startBrowser()
  for (const file of readdirSync(FOLDER)) {
    if (!file.endsWith('.json')) continue
    const dashboard = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Dashboard
    const drawn = await Promise.all(dashboard.panels.map((panel) => draw(panel, prometheus, seen)))
    const tab = await openTab(browser, { viewport: { width: WIDTH, height: 400 } })
    await tab.setContent(`<style>
      body { margin: 0; font: 12px sans-serif; background: #f4f5f5; color: #222; position: relative; height: ${heightOf(dashboard)}px }
      .panel { position: absolute; box-sizing: border-box; border: 2px solid #f4f5f5; background: white; padding: 6px 8px; overflow: hidden }
      b { font-weight: 600 } small { display: inline-block; margin-right: 10px; color: #555; white-space: nowrap } .big { font-size: 20px }
      </style>${drawn.join('')}`)
    await tab.screenshot({ path: path.join(folder, file.replace('.json', '.png')), fullPage: true })
  }
}

const heightOf = ({ panels }: Dashboard) => Math.max(...panels.map(({ gridPos: { y, h } }) => (y + h) * ROW))

interface Line {
  name: string
  points: readonly [number, number][]
}

async function draw(panel: Panel, prometheus: Prometheus, { range, factor }: Seen): Promise<string> {
  const lines: Line[] = []
  for (const { expr, legendFormat } of panel.targets) {
    for (const { metric, values } of await prometheus.queryRange(shorterRanges(expr, factor), range)) {
      const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')
      const points = values.flatMap(([at, value]): [number, number][] =>
        Number.isFinite(Number(value)) ? [[at, Number(value)]] : [],
      )
      if (points.length > 0) lines.push({ name, points })
    }
  }
  const { x, y, w, h } = panel.gridPos
  const place = `left:${x * COLUMN}px;top:${y * ROW}px;width:${w * COLUMN}px;height:${h * ROW}px`
  const { unit = '' } = panel.fieldConfig.defaults
  const content = panel.type === 'stat' ? numbersOf(lines, unit) : chartOf(lines, unit, range)
  return `<div class="panel" style="${place}"><b>${escaped(panel.title)}</b><br>${content}</div>`
}

function numbersOf(lines: readonly Line[], unit: string): string {
  return lines
    .map(
      ({ name, points }) =>
        `<p><span class="big">${shown(points.at(-1)?.[1] ?? 0, unit)}</span> ${escaped(name)}</p>`,
    )
    .join('')
}

function chartOf(lines: readonly Line[], unit: string, { from, to }: Range): string {
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1
  const drawn = lines.map(({ points }, index) => {
    const places = points.map(
      ([at, value]) =>
        `${(((at - from) / (to - from)) * 1000).toFixed(1)},${(100 - (value / highest) * 96).toFixed(1)}`,
    )
    return `<polyline points="${places.join(' ')}" fill="none" stroke="${colourOf(index)}" stroke-width="1.5" vector-effect="non-scaling-stroke"/>`
  })
  const legend = lines
    .slice(0, LEGEND_ROWS * 3)
    .map(
      ({ name }, index) => `<small><span style="color:${colourOf(index)}">■</span> ${escaped(name)}</small>`,
    )
  return `<small>${shown(highest, unit)}</small>
    <svg viewBox="0 0 1000 100" preserveAspectRatio="none" width="100%" height="55%" style="border-bottom:1px solid #ccc">${drawn.join('')}</svg>
    ${legend.join('')}`
}

const colourOf = (index: number) => COLOURS[index % COLOURS.length] ?? ''
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function shown(value: number, unit: string): string {
  if (unit === 'percentunit') return `${(value * 100).toFixed(1)} %`
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(0)} MiB`
  if (unit === 'bool_yes_no') return value === 0 ? 'No' : 'Yes'
  const number = value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
  return { s: `${number} s`, d: `${number} days`, reqps: `${number}/s` }[unit] ?? number
}
