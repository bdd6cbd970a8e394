// Prints the one line that tools read, and fails when anything failed. Arguments, three for each part: its
// name, the status with which it ended, and the file of its report if it consists of tests.
import { readFileSync } from 'node:fs'

const given = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }

function counts(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

for (let at = 0; at < given.length; at += 3) {
  const [name, status, report] = given.slice(at, at + 3)
  const { passed, failed, skipped } = counts(report)
  // A part counts as one more failure if something other than a test ended it, or if it has no tests.
  const unseen = failed === 0 && (status !== '0' || (report !== '' && passed === 0)) ? 1 : 0
  if (status !== '0') console.log(`${name} ended with status ${status}`)
  total.passed += passed
  total.failed += failed + unseen
  total.skipped += skipped
}
const { passed, failed, skipped } = total
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed === 0 ? 0 : 1)
