import { readFile } from 'node:fs/promises'
import { Command, InvalidArgumentError } from 'commander'
import { type Config, loadConfig } from '../config/config.js'
import { notices, out } from './terminal.js'

/** A record of an audit log that must still be there. */
interface KnownRecord {
  workspaceId: string
  sequence: number
  hash: string
}

/** `botstead check`: compares counters with the stored data, or checks audit logs. A server may run on the same data. */
export function checkCommand(): Command {
  return new Command('check')
    .description(
      'Compare files, quotas and stored contents, or check audit logs; with or without a running server.',
    )
    .option('--repair', 'repair everything but lost contents', false)
    .option('--contents', 'read all contents and compare their SHA-256', false)
    .option('--audit', 'check the audit logs of all workspaces instead', false)
    .option(
      '--audit-head <head>',
      'a record that must still be there, as an earlier check printed it: <workspace>:<sequence>:<hash>; may be repeated',
      (text: string, before: KnownRecord[]) => [...before, toKnown(text)],
      [],
    )
    .option(
      '--audit-export <file>',
      'an export of an audit log as lines of JSON, whose last record must still be there; needs --workspace',
    )
    .option('--workspace <id>', 'the workspace of the export')
    .action(async ({ repair, contents, audit, ...options }) => {
      const { config } = loadConfig(undefined, { envFile: '.env' })
      const { auditHead, auditExport, workspace } = options
      if (audit || auditHead.length > 0 || auditExport !== undefined) {
        if (repair || contents) {
          throw new Error('--repair and --contents are for files: leave them out with --audit.')
        }
        const known: KnownRecord[] = [...auditHead]
        if (auditExport !== undefined) known.push(await lastOf(auditExport, workspace))
        return await checkAudit(config, known)
      }
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

async function checkAudit(config: Config, given: readonly KnownRecord[]): Promise<void> {
  const known = new Map<string, KnownRecord[]>()
  for (const record of given) {
    known.set(record.workspaceId, [...(known.get(record.workspaceId) ?? []), record])
  }
  const { withAuditCheck } = await import('../app/offline.js')
  const broken = await withAuditCheck(config, known, async (logs) => {
    let count = 0
    for await (const { workspaceId, fault, records, head } of logs) {
      if (fault === undefined) {
        const end = head && `${workspaceId}:${Number(head.sequence)}:${head.hash}`
        out.line(`ok: ${records} records, head ${end}`)
      } else {
        out.line(`broken: workspace ${workspaceId}, record ${fault.sequence}: ${fault.difference}`)
        count += 1
      }
    }
    return count
  })
  const problems =
    broken === 1
      ? '1 audit log is not as it was recorded.'
      : `${broken} audit logs are not as they were recorded.`
  notices.line(broken === 0 ? 'No problems found.' : problems)
  if (broken > 0) process.exitCode = 1
}

function toKnown(text: string): KnownRecord {
  const [, workspaceId, sequence, hash] = /^([^:]+):(\d+):([0-9a-f]{64})$/.exec(text) ?? []
  if (workspaceId === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must have the form <workspace>:<sequence>:<hash>.')
  }
  return { workspaceId, sequence: Number(sequence), hash }
}

/** The last record of an export in lines of JSON. */
async function lastOf(file: string, workspaceId: string | undefined): Promise<KnownRecord> {
  if (workspaceId === undefined) throw new Error('--audit-export needs --workspace <id>.')
  const line = (await readFile(file, 'utf8')).trimEnd().split('\n').at(-1) ?? ''
  const { sequence, hash } = parseRecord(line)
  if (typeof sequence !== 'number' || typeof hash !== 'string') {
    throw new Error(`${file}: the last line is no record of an audit log as JSON.`)
  }
  return { workspaceId, sequence, hash }
}

function parseRecord(line: string): { sequence?: unknown; hash?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return {}
  }
}

function summaryOf(left: number, repair: boolean): string {
  if (left === 0) return repair ? 'No problems remain.' : 'No problems found.'
  const problems = left === 1 ? '1 problem' : `${left} problems`
  return repair
    ? `${problems} cannot be repaired: the lines above say what to do.`
    : `${problems} found: run "npx botstead check --repair" to repair all but lost contents.`
}
