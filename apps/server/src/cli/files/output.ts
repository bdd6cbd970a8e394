import { sizeText } from '../../platform/size-text.js'
import type { Output } from '../terminal.js'
import { abbreviate, shellWord } from '../text.js'
import { type RemoteFile, type RemoteReport, reservedKey } from './remote.js'

/** Shows the progress of a synchronisation: one status line on a terminal, a line per event elsewhere. */
export interface Progress {
  /** Sets the total amount of work. */
  total(work: { files: number; bytes: number }): void
  bytes(count: number): void
  /** Reports a finished file. */
  done(what: string, key: string): void
  /** Reports a file without changes; not listed, so that the changed ones stay visible among thousands. */
  unchanged(): void
  failed(key: string, reason: string): void
  end(): void
}

/** Makes the display of one synchronisation, which writes to `out` until its `end`. */
export function createProgress(out: Output): Progress {
  const line = createStatusLine(out)
  let files = 0
  let bytes = 0
  let doneFiles = 0
  let doneBytes = 0

  const draw = (force: boolean) => {
    const share = bytes === 0 ? 1 : doneBytes / bytes
    const text = `${doneFiles}/${files} files, ${sizeText(doneBytes)} of ${sizeText(bytes)}`
    line.draw(share, text, { force })
  }

  return {
    total(work) {
      files = work.files
      bytes = work.bytes
      draw(true)
    },
    bytes(count) {
      doneBytes += count
      draw(false)
    },
    done(what, key) {
      doneFiles += 1
      if (out.isTerminal) draw(false)
      else out.line(`${what.padEnd(8)} ${key}`)
    },
    unchanged() {
      doneFiles += 1
      draw(false)
    },
    failed(key, reason) {
      line.clear()
      out.line(`failed   ${abbreviate(key, 200)}: ${reason}`)
      draw(true)
    },
    end: line.clear,
  }
}

const barWidth = 24
const redrawMilliseconds = 100

/** The status line at the bottom of a terminal; elsewhere it is never drawn. */
export interface StatusLine {
  /** Draws a bar with a text beside it, at most a few times a second unless forced. */
  draw(share: number, text: string, options?: { force: boolean }): void
  clear(): void
}

/** Makes the status line of a stream. It writes nothing unless the stream is a terminal. */
export function createStatusLine(out: Output): StatusLine {
  let drawnAt = 0
  return {
    draw(share, text, { force } = { force: false }) {
      if (!out.isTerminal || (!force && Date.now() - drawnAt < redrawMilliseconds)) return
      drawnAt = Date.now()
      const filled = Math.round(Math.min(1, share) * barWidth)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
      // A longer line would wrap, and its first part could not be cleared.
      out.redraw(`${bar} ${text}`)
    },
    clear: out.clear,
  }
}

/** A file as a line of a list, with a second line for its failure, its progress or its omissions. */
export function toLines(file: RemoteFile): string[] {
  const size = file.size === null ? '-' : sizeText(file.size)
  const line = `${file.updatedAt}  ${size.padStart(8)}  ${file.status.padEnd(18)}  ${file.key}`
  const more = file.failedStatusReason ?? describeProgress(file) ?? describeOmissions(file)
  return more === undefined ? [line] : [line, `    ${more}`]
}

/** The number of things of a file that were not read; undefined if there are none, or if it is unknown. */
export function describeOmissions(file: RemoteFile): string | undefined {
  const { indexingOmissions = 0 } = file
  if (indexingOmissions === 0) return undefined
  const what = indexingOmissions === 1 ? '1 thing was' : `${indexingOmissions} things were`
  return `${what} not read; see: ${reportCommand(file)}`
}

/**
 * The command that prints the indexing report of a file: by its key if that means this file, in every shell, and by its
 * id otherwise. The same key may belong to an integration too, or be the id of another file.
 */
export function reportCommand({
  id,
  key,
  owner,
}: Pick<RemoteFile, 'id' | 'key' | 'owner'>): string {
  const isClear = owner.type !== 'integration' && plainKey.test(key) && !reservedKey.test(key)
  return `npx botstead files report ${isClear ? shellWord(key) : id}`
}

/** Letters, digits and signs that no shell, terminal or option of a command takes for something else. */
const plainKey = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} _./:@+,()-]{0,199}$/u

/** A report as lines: each omission, and below it why and what to do. */
export function toReportLines(report: RemoteReport): string[] {
  const { outcome, omissions, failedStatusReason } = report
  const head = failedStatusReason === undefined ? [] : [failedStatusReason]
  const found = omissions.flatMap(({ summary, why, advice }) => [
    summary,
    `    ${why}`,
    `    ${advice}`,
  ])
  if (found.length > 0) return [...head, ...found]
  if (outcome === 'all_read') return [...head, 'All of it was read.']
  if (report.status === 'upload_completed') return ['The file is not indexed.']
  return head.length > 0 ? head : [unknownReport]
}

const unknownReport =
  'It is unknown whether all of it was read: it is not indexed yet, an earlier release indexed it, or a program set its passages. "npx botstead reindex" reads it again.'

/** Describes the indexing progress of a file; undefined where it has not begun or has ended. */
export function describeProgress({ indexingProgress }: RemoteFile): string | undefined {
  if (indexingProgress === undefined) return undefined
  const { percent, pages, passages, passagesTotal, attempt } = indexingProgress
  return [
    `${percent} %`,
    ...(pages === undefined ? [] : [`page ${pages}`]),
    ...(passagesTotal === undefined ? [] : [`${passages ?? 0} of ${passagesTotal} passages`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
  ].join(', ')
}
