// Prints the one line that tools read, and fails when anything failed.
import { readFileSync } from 'node:fs'

const [report, testStatus, checkStatus] = process.argv.slice(2)

function counts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

const { passed, failed, skipped } = counts()
// One for what ended the tests, whatever it was, or for that there is none.
const unseen = failed === 0 && (testStatus !== '0' || passed === 0) ? 1 : 0
const broken = unseen + (checkStatus === '0' ? 0 : 1)
if (testStatus !== '0') console.log(`npm test ended with status ${testStatus}`)
if (checkStatus !== '0') console.log(`npm run check ended with status ${checkStatus}`)
console.log(`${passed} passed, ${failed + broken} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed + broken === 0 ? 0 : 1)
