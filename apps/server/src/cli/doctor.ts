import { once } from 'node:events'
import { Command } from 'commander'
import type { Diagnosis } from '../app/doctor.js'
import { printable } from '../platform/terminal-text.js'
import { out } from './terminal.js'
import { wrapText } from './text.js'

/** `botstead doctor`: checks the installation, and says what to do. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check the installation and say what to do; with or without a running server.')
    .option('--json', 'print the results as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      // Loaded on demand, as in the other commands: imports at the top would slow down all of them.
      const { diagnose } = await import('../app/doctor.js')
      const diagnosis = await diagnose('.env')
      const text = json ? `${JSON.stringify(diagnosis, undefined, 2)}\n` : reportOf(diagnosis)
      if (!out.text(text)) await once(out.stream, 'drain')
      // A connection that does not respond must not keep the command from ending.
      process.exit(diagnosis.status === 'failed' ? 1 : 0)
    })
}

const nameWidth = 16
const widest = 110
const marks = { ok: 'ok', warning: 'WARNING', failed: 'FAILED' }
const markWidth = 9

function reportOf({ checks }: Diagnosis): string {
  const margin = ' '.repeat(markWidth + nameWidth)
  const width = Math.max(40, Math.min(out.columns ?? widest, widest) - margin.length)
  const lines = checks.flatMap(({ check, status, message, next }) => {
    const begin = marks[status].padEnd(markWidth) + check.padEnd(nameWidth)
    // Settings and errors may contain what others have written.
    const text = wrapText(printable(message), width)
    const advice = next === undefined ? [] : wrapText(`→ ${printable(next)}`, width)
    return [...text, ...advice].map((line, at) => (at === 0 ? begin : margin) + line)
  })
  return `${[...lines, '', summaryOf(checks)].join('\n')}\n`
}

function summaryOf(checks: Diagnosis['checks']): string {
  const count = (status: string) => checks.filter((each) => each.status === status).length
  const failures = count('failed')
  const warnings = count('warning')
  if (failures + warnings === 0) return 'No problems found.'
  return `${failures} failed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}
