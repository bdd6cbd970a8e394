import { abbreviate } from '../text.js'
import { createStatusLine } from './status-line.js'

/** Shows how far a synchronisation is: one moving line on a terminal, a line for each event elsewhere. */
export interface Progress {
  /** What is to be done altogether. */
  total(work: { files: number; bytes: number }): void
  bytes(count: number): void
  /** A file is done. */
  done(what: string, key: string): void
  /** A file had nothing to be done; among thousands, the others shall be seen. */
  unchanged(): void
  failed(key: string, reason: string): void
  end(): void
}

export function createProgress(out: NodeJS.WriteStream): Progress {
  const line = createStatusLine(out)
  let files = 0
  let bytes = 0
  let doneFiles = 0
  let doneBytes = 0

  const draw = (force: boolean) => {
    const share = bytes === 0 ? 1 : doneBytes / bytes
    const text = `${doneFiles}/${files} files, ${toSize(doneBytes)} of ${toSize(bytes)}`
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
      if (out.isTTY) draw(false)
      else out.write(`${what.padEnd(8)} ${key}\n`)
    },
    unchanged() {
      doneFiles += 1
      draw(false)
    },
    failed(key, reason) {
      line.clear()
      out.write(`failed   ${abbreviate(key, 200)}: ${reason}\n`)
      draw(true)
    },
    end: line.clear,
  }
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes as a person reads them. */
export function toSize(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}
