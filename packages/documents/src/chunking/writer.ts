/** An offset at which a block may be cut without splitting one of its parts. */
export interface Seam {
  /** Offset in the block's text, in UTF-16 units. */
  offset: number
  /** 0 between the parts of the block itself, 1 between the parts of those, and so on. */
  rank: number
}

/** The beginning of a page in the text of a block. */
export interface PageMark {
  /** Offset in the block's text, in UTF-16 units. */
  offset: number
  /** From 1. */
  page: number
}

/** Collects the Markdown text of one block line by line, with its seams and pages. */
export interface Writer {
  /** Appends text; its further lines get the indentation of the enclosing parts. */
  write(text: string): void
  /** Begins a new line with `blank` empty lines before it, unless nothing is written yet. */
  startLine(blank: number): void
  /** Allows a cut at the current offset. */
  seam(): void
  /** Marks the following text as being on this page; does nothing for `undefined`. */
  page(page: number | undefined): void
  /**
   * Runs `inner` with every further line prefixed.
   *
   * @param first prefix of the current line, such as a list marker
   * @param rest prefix of the further lines
   */
  indent(first: string, rest: string, inner: () => void): void
  readonly text: string
  readonly seams: readonly Seam[]
  /** In order; none in formats without pages. */
  readonly pages: readonly PageMark[]
}

/** Makes the writer of an empty block. */
export function createWriter(): Writer {
  const parts: string[] = []
  const seams: Seam[] = []
  const pages: PageMark[] = []
  let length = 0
  let prefix = ''
  let rank = 0

  const append = (text: string) => {
    parts.push(text)
    length += text.length
  }
  return {
    write(text) {
      append(prefix === '' ? text : text.replaceAll('\n', `\n${prefix}`))
    },
    startLine(blank) {
      if (length === 0) return
      append(`\n${`${prefix.trimEnd()}\n`.repeat(blank)}${prefix}`)
    },
    seam() {
      if (length > 0) seams.push({ offset: length, rank })
    },
    page(page) {
      if (page !== undefined && pages.at(-1)?.page !== page) pages.push({ offset: length, page })
    },
    indent(first, rest, inner) {
      const outer = prefix
      append(first)
      prefix = outer + rest
      rank += 1
      inner()
      prefix = outer
      rank -= 1
    },
    get text() {
      return parts.join('')
    },
    get seams() {
      return seams
    },
    get pages() {
      return pages
    },
  }
}
