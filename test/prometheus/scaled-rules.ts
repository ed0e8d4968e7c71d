/** In an expression, a number from here on is seconds: see alerts.yml. */
const LEAST_SECONDS = 60

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
type Unit = keyof typeof UNIT_MS

/**
 * The alerts with time passing `factor` times as fast: `for`, the ranges of expressions and their numbers of seconds are
 * divided by it. Nothing else changes.
 */
export function scaledRules(rules: string, factor: number): string {
  const inExpression = (line: string) =>
    shorterRanges(line, factor).replaceAll(/(?<=[>+] )\d+(?= |$)/g, (number) =>
      Number(number) < LEAST_SECONDS ? number : String(Number(number) / factor),
    )
  return rules
    .split('\n')
    .map((line) => {
      const [, head, count = '', unit = ''] = /^( +for: )(\d+)([smhd])$/.exec(line) ?? []
      if (head !== undefined) return `${head}${shorter(count, unit, factor)}`
      return /^ +(?:annotations|summary|description|runbook|labels|- alert|#)/.test(line)
        ? line
        : inExpression(line)
    })
    .join('\n')
}

/** An expression whose ranges are divided by `factor`. */
function shorterRanges(expression: string, factor: number): string {
  return expression.replaceAll(
    /\[(\d+)([smhd])\]/g,
    (_, count: string, unit: string) => `[${shorter(count, unit, factor)}]`,
  )
}

const shorter = (count: string, unit: string, factor: number) =>
  `${Math.round((Number(count) * UNIT_MS[unit as Unit]) / factor)}ms`
