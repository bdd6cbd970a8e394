// Repeats the failed tests of a run, each alone: node .ci/repeat.mjs <file of the report> <script of package.json>
// On a crowded machine one of many thousand tests may fail by chance. Such a test is a fault of its own, which the
// gate names, but says nothing about the change that the gate is asked about. A test passes if it passes each time;
// then `<file of the report>.unsteady` has it with its errors. Ends with 0 if all of them pass.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** How often a test is repeated. */
const times = 3
/** Maximum number of tests that are repeated: more have not failed by chance. */
const maxTests = 3

const [report, script] = process.argv.slice(2)

/** The failed tests; undefined if something else has failed, or too many. */
function failedTests() {
  // The reporter of the progress writes errors of no test beside a report.
  if (!existsSync(report) || existsSync(`${report}.errors`)) return undefined
  const { testResults = [] } = JSON.parse(readFileSync(report, 'utf8'))
  const tests = testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (status === 'failed' && failed.length === 0) return [undefined]
    const file = relative(process.cwd(), name)
    return failed.map(({ fullName, failureMessages }) => ({ file, fullName, failureMessages }))
  })
  return tests.length <= maxTests && !tests.includes(undefined) ? tests : undefined
}

/** Whether a test passes alone, and one test of this name has run. */
function passes({ file, fullName }) {
  const alone = `${report}.alone`
  const pattern = `^${fullName.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
  const { status } = spawnSync(
    'npm',
    ['run', script, '--', file, '-t', pattern, '--reporter=json', `--outputFile.json=${alone}`],
    { stdio: 'inherit' },
  )
  return status === 0 && JSON.parse(readFileSync(alone, 'utf8')).numPassedTests > 0
}

const tests = failedTests() ?? []
if (tests.length === 0) process.exit(1)
for (const test of tests) {
  console.log(`Repeating alone, ${times} times: ${test.file} > ${test.fullName}`)
  for (let time = 0; time < times; time++) if (!passes(test)) process.exit(1)
}
const unsteady = tests.map(
  ({ file, fullName, failureMessages }) => `${file} > ${fullName}\n${failureMessages.join('\n')}`,
)
writeFileSync(`${report}.unsteady`, JSON.stringify(unsteady))
