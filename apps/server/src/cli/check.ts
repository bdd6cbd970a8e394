import { Command } from 'commander'
import { loadConfig } from '../config/config.js'
import { notices, out } from './terminal.js'

/** `botstead check`: compares counters with the stored data. A server may run on the same data. */
export function checkCommand(): Command {
  return new Command('check')
    .description('Compare files, quotas and stored contents; with or without a running server.')
    .option('--repair', 'repair everything but lost contents', false)
    .option('--contents', 'read all contents and compare their SHA-256', false)
    .action(async ({ repair, contents }: { repair: boolean; contents: boolean }) => {
      const { config } = loadConfig(undefined, { envFile: '.env' })
      // Loaded on demand, as in the other commands: imports at the top would slow down all of them.
      const { withFilesCheck } = await import('../app/offline.js')
      const left = await withFilesCheck(config, { repair, contents }, async (findings) => {
        let count = 0
        for await (const { kind, text, repaired } of findings) {
          out.line(`${kind}: ${text}${repaired ? ' (repaired)' : ''}`)
          if (!repaired) count++
        }
        return count
      })
      notices.line(summaryOf(left, repair))
      if (left > 0) process.exitCode = 1
    })
}

function summaryOf(left: number, repair: boolean): string {
  if (left === 0) return repair ? 'No problems remain.' : 'No problems found.'
  const problems = left === 1 ? '1 problem' : `${left} problems`
  return repair
    ? `${problems} cannot be repaired: the lines above say what to do.`
    : `${problems} found: run "npx botstead check --repair" to repair all but lost contents.`
}
