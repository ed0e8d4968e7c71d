// Prints `PASSED FAILED` from a jest JSON report and the exit code of its run.
// A test file that could not be loaded has no tests to count: it is one failure, and so is a run that
// failed although every test passed, or that ran no test at all.
const { readFileSync } = require('node:fs')

const [file, code] = process.argv.slice(2)
const report = JSON.parse(readFileSync(file, 'utf8'))
const passed = report.numPassedTests
const failed = report.numFailedTests + report.numRuntimeErrorTestSuites
const brokenAnyway = failed === 0 && (code !== '0' || passed === 0)
console.log(`${passed} ${brokenAnyway ? 1 : failed}`)
