// Prints which test files took longest and which tests failed, then the one line that tools read, and fails when
// anything failed. Arguments, three for each part: its name, the status with which it ended, and the file of its
// report if it consists of tests.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const given = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }
/** Test files of all parts, with the milliseconds that they took. */
const files = []
/** How many of them are named. */
const named = 10

function read(report) {
  try {
    const {
      numPassedTests,
      numFailedTests,
      numPendingTests,
      testResults = [],
    } = JSON.parse(readFileSync(report, 'utf8'))
    const unsteady = readIfThere(`${report}.unsteady`)
    const failures = [...testResults.flatMap(failuresOf), ...readIfThere(`${report}.errors`)]
    const lengths = testResults.map(({ name, startTime, endTime }) => ({
      file: relative(process.cwd(), name),
      milliseconds: endTime - startTime,
    }))
    const counts = {
      passed: numPassedTests + unsteady.length,
      failed: numFailedTests - unsteady.length,
      skipped: numPendingTests,
    }
    // Either all of its failed tests are unsteady, or none.
    return { ...counts, failures: unsteady.length > 0 ? [] : failures, unsteady, lengths }
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [], unsteady: [], lengths: [] }
  }
}

/**
 * What was written beside a report: errors of no test (`.errors`), or the tests that failed and then passed alone
 * (`.unsteady`).
 */
function readIfThere(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** The failed tests of a file with their errors, or the file itself if it failed as a whole. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(process.cwd(), name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (failed.length === 0 && status === 'failed') return [`${file}\n${message}`]
  return failed.map((test) => `${file} > ${test.fullName}\n${test.failureMessages.join('\n')}`)
}

for (let at = 0; at < given.length; at += 3) {
  const [name, status, report] = given.slice(at, at + 3)
  const { passed, failed, skipped, failures, unsteady, lengths } = read(report)
  // A part counts as one more failure if something other than a test ended it, or if it has no tests.
  const unseen = failed === 0 && (status !== '0' || (report !== '' && passed === 0)) ? 1 : 0
  // The output of a part is long, and is often cut: what failed is repeated where it can be seen.
  for (const failure of failures) console.log(`Failed in ${name}: ${failure.slice(0, 4000)}\n`)
  for (const failure of unsteady) {
    console.log(`UNSTEADY in ${name}, failed once and passed alone: ${failure.slice(0, 4000)}\n`)
  }
  if (status !== '0') console.log(`${name} ended with status ${status}`)
  for (const each of lengths) files.push({ part: name, ...each })
  total.passed += passed
  total.failed += failed + unseen
  total.skipped += skipped
}
const longest = files.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, named)
if (longest.length > 0) console.log('These files took longest:')
for (const { part, file, milliseconds } of longest) {
  console.log(`${(milliseconds / 1000).toFixed(1).padStart(7)} s  ${file} (${part})`)
}
const { passed, failed, skipped } = total
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed === 0 ? 0 : 1)
