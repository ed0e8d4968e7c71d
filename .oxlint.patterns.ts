import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { analyse } from 'scslre'

/** A quantifier with a larger bound is analysed as if it had none: sixty repeats of up to sixty take as long. */
const LARGEST_BOUND = 9

const reasons = {
  Self: 'a quantifier can match again what it gave back',
  Trade: 'two quantifiers can match the same characters',
  Move: 'it is tried again from each character of a long run',
}

/** Why a pattern may take more than linear time on some text; `undefined` if it cannot. */
function superLinear(pattern: string, flags: string): string | undefined {
  const { source, repeatsChoice } = withoutBounds(pattern, flags)
  // scslre compares quantifiers with each other, not the alternatives under one
  if (repeatsChoice) return 'a choice is repeated, and its alternatives may match the same text'
  const literal = { source, flags }
  const [report] = [
    ...analyse(literal, { assumeRejectingSuffix: true, reportTypes: { Move: false } }).reports,
    // what follows a match is not searched for: a pattern such as \s+ takes what it meets and goes on behind it
    ...analyse(literal, { reportTypes: { Self: false, Trade: false } }).reports,
  ]
  return report && reasons[report.type]
}

function withoutBounds(pattern: string, flags: string): { source: string; repeatsChoice: boolean } {
  const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
  const bounds: { from: number; to: number; min: number }[] = []
  let repeats = 0
  let repeatsChoice = false
  const enter = ({ alternatives }: { alternatives: unknown[] }) => {
    if (repeats > 0 && alternatives.length > 1) repeatsChoice = true
  }
  visitRegExpAST(new RegExpParser().parsePattern(pattern, 0, pattern.length, unicode), {
    onQuantifierEnter({ min, max, greedy, element, end }) {
      if (max <= LARGEST_BOUND) return
      repeats += 1
      if (max !== min && max !== Infinity) bounds.push({ from: element.end, to: greedy ? end : end - 1, min })
    },
    onQuantifierLeave: ({ max }) => void (max > LARGEST_BOUND && (repeats -= 1)),
    onGroupEnter: enter,
    onCapturingGroupEnter: enter,
  })
  let source = pattern
  for (const { from, to, min } of bounds.toSorted((one, other) => other.from - one.from))
    source = `${source.slice(0, from)}{${min},}${source.slice(to)}`
  return { source, repeatsChoice }
}

interface Context {
  report: (fault: { node: unknown; message: string }) => void
}

interface Call {
  callee: { type: string; name?: string }
}

/** Rules for the patterns of a service that reads what strangers write. */
const plugin = {
  meta: { name: 'patterns' },
  rules: {
    linear: {
      create: (context: Context) => ({
        Literal(node: { regex?: { pattern: string; flags: string } }) {
          const reason = node.regex && superLinear(node.regex.pattern, node.regex.flags)
          if (reason === undefined) return
          context.report({ node, message: `This pattern can be slow: ${reason}. Scan the text instead.` })
        },
      }),
    },
    literal: {
      create: (context: Context) => {
        const refuse = (node: Call) => {
          if (node.callee.name !== 'RegExp') return
          context.report({ node, message: 'Write the pattern as a literal: only literals are checked.' })
        }
        return { NewExpression: refuse, CallExpression: refuse }
      },
    },
  },
}
export default plugin
