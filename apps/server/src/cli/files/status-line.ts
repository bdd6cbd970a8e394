import { abbreviate } from '../text.js'

const barWidth = 24
const redrawMilliseconds = 100

/** The moving last line of a terminal; elsewhere it is never drawn. */
export interface StatusLine {
  /** Draws a bar and a text beside it, a few times a second at most unless it is forced. */
  draw(share: number, text: string, options?: { force: boolean }): void
  clear(): void
}

export function createStatusLine(out: NodeJS.WriteStream): StatusLine {
  let drawnAt = 0
  const clear = () => {
    if (out.isTTY) out.write('\r\u001b[2K')
  }
  return {
    draw(share, text, { force } = { force: false }) {
      if (!out.isTTY || (!force && Date.now() - drawnAt < redrawMilliseconds)) return
      drawnAt = Date.now()
      const filled = Math.round(Math.min(1, share) * barWidth)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
      clear()
      // A longer line would be wrapped, and its first part could not be cleared again.
      out.write(abbreviate(`${bar} ${text}`, Math.max(barWidth, out.columns - 1)))
    },
    clear,
  }
}
