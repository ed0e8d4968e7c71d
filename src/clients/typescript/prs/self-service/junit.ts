/** One check, as a test case. */
export interface TestCase {
  name: string
  seconds: number
  /** Why it did not pass, in one line, and what to do. */
  failure?: { message: string; text: string }
  /** Why it was not made. */
  skipped?: string
}

/** JUnit’s XML, as CI systems read it. */
export function junit(cases: readonly TestCase[]): string {
  const suite = `  <testsuite name="certification"${counts(cases)}>\n${cases.map(caseOf).join('')}  </testsuite>\n`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="prs certify"${counts(cases)}>\n${suite}</testsuites>\n`
}

function counts(cases: readonly TestCase[]): string {
  const failures = cases.filter(({ failure }) => failure).length
  const skipped = cases.filter((each) => each.skipped !== undefined).length
  const seconds = cases.reduce((sum, each) => sum + each.seconds, 0)
  return ` tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds.toFixed(3)}"`
}

function caseOf({ name, seconds, failure, skipped }: TestCase): string {
  const head = `    <testcase classname="prs.certification" name="${escaped(name)}" time="${seconds.toFixed(3)}"`
  if (failure)
    return `${head}>\n      <failure message="${escaped(failure.message)}">${escaped(failure.text)}</failure>\n    </testcase>\n`
  if (skipped !== undefined)
    return `${head}>\n      <skipped message="${escaped(skipped)}"/>\n    </testcase>\n`
  return `${head}/>\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
}

/** XML 1.0 has no other control characters, no half of a pair and no U+FFFE and U+FFFF: also not as entities. */
const escaped = (text: string) =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\n\r\t]/g, (character) => ENTITIES[character] ?? '')
