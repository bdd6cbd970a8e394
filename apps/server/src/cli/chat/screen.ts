import { clearLine, cursorTo, type Interface } from 'node:readline'

/** Where the talk is shown. */
export interface Screen {
  /** Shows whole lines. */
  show(text: string): void
  /** Shows text that goes on with the next call, until something else is shown. */
  grow(text: string): void
}

/**
 * Writes above the line that is being typed, which is drawn again below.
 *
 * @param lines reads what is typed; undefined where nobody types
 */
export function createScreen(output: NodeJS.WritableStream, lines: Interface | undefined): Screen {
  /** Whether the last line of the screen is one that grows. */
  let isGrowing = false

  function begin(): void {
    if (isGrowing || lines === undefined) return
    cursorTo(output, 0)
    clearLine(output, 0)
  }

  return {
    show(text) {
      begin()
      output.write(`${isGrowing ? '\n' : ''}${text === '' ? '' : `${text}\n`}`)
      isGrowing = false
      lines?.prompt(true)
    },
    grow(text) {
      begin()
      output.write(text)
      isGrowing = true
    },
  }
}
