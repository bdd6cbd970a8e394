import { createHash } from 'node:crypto'
import type { AuditRow, Link } from './table.js'

/** The place before the first record of a workspace. */
export const chainStart = { sequence: 0, hash: '' }

/** The hash of a record that follows another one. */
export function hashOf(record: Omit<AuditRow, 'hash'>, previous: string): string {
  // A list, so that the text is the same whatever the order of columns, and no two records have the same one.
  const text = JSON.stringify([
    previous,
    record.workspace_id,
    Number(record.sequence),
    record.id,
    record.recorded_at,
    record.operation,
    record.account_id,
    record.authority,
    record.token_id,
    record.token_note,
    record.address,
    record.resource_id,
    record.resource_name,
    record.changes,
  ])
  return createHash('sha256').update(text).digest('hex')
}

/** A difference between a chain and what it must be. */
export interface ChainFault {
  workspaceId: string
  /** Number of the record that is wrong or missing. */
  sequence: number
  difference: string
}

/** Checks the records of one workspace, which are given in order. */
export interface ChainCheck {
  /** Compares the place at which the chain begins; to be called first. */
  begin(): ChainFault | undefined
  add(record: AuditRow): ChainFault | undefined
  /** @param head the row of the newest record; undefined if it is missing */
  end(head: Link | undefined): ChainFault | undefined
}

/**
 * @param start the last record that retention deleted; the chain begins after it
 * @param known records that must be part of the chain, such as the last one of an export
 */
export function checkChain(
  workspaceId: string,
  start: Link,
  known: readonly Link[] = [],
): ChainCheck {
  let last = start
  const fault = (sequence: number, difference: string) => ({ workspaceId, sequence, difference })
  const compare = ({ sequence, hash }: Link) => {
    const other = known.find((link) => link.sequence === sequence && link.hash !== hash)
    return other && fault(sequence, `its hash is ${hash}, and the known one ${other.hash}`)
  }
  return {
    begin() {
      // Otherwise a forged record of a deletion would hide whatever is before it.
      const deleted = known.find(({ sequence }) => sequence < start.sequence)
      if (deleted === undefined) return compare(start)
      return fault(
        deleted.sequence,
        'the known record was deleted by retention and cannot be compared: use a newer one',
      )
    },
    add(record) {
      const sequence = Number(record.sequence)
      if (sequence !== last.sequence + 1) {
        return fault(last.sequence + 1, `the record is missing: the next one is ${sequence}`)
      }
      if (record.hash !== hashOf(record, last.hash)) {
        return fault(sequence, 'the record is not as it was recorded')
      }
      last = { sequence, hash: record.hash }
      return compare(last)
    },
    end(head) {
      const newest = head === undefined ? 0 : Number(head.sequence)
      if (newest !== last.sequence) {
        return fault(
          Math.min(newest, last.sequence) + 1,
          `the newest record is ${last.sequence}, and ${newest} was written last`,
        )
      }
      if (head !== undefined && head.hash !== last.hash) {
        return fault(last.sequence, 'its hash is not the one that was written last')
      }
      const missing = known.find(({ sequence }) => sequence > last.sequence)
      return missing && fault(missing.sequence, 'the known record is missing')
    },
  }
}
