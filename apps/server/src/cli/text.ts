/** A text of at most `maxLength` characters: whole words, with an ellipsis where text is missing. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const room = text.slice(0, maxLength - 1)
  const lastSpace = room.lastIndexOf(' ')
  const kept = lastSpace > 0 ? room.slice(0, lastSpace) : room.slice(0, -1)
  return `${kept.replace(/[\s,;:.–-]+$/, '')} …`
}

/** Wraps a text to lines of at most `width` characters; a longer word has a line of its own. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return line === '' ? lines : [...lines, line]
}

/** Shorter lines were ended by their author, longer ones by the width of a page. */
const fullLineLength = 60
/** A line that begins something: a heading, an item, a quote, a row, code, or a rule. */
const blockStart = /^\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|[>|]|`{3,}|~{3,}|[-=*_]{3,}\s*$)/

/**
 * Formats Markdown for a terminal: text is wrapped regardless of its line breaks, while
 * code and tables keep their lines and indentation.
 */
export function layOut(markdown: string, width: number): string[] {
  let fence: string | undefined
  return joinLines(markdown.split('\n')).flatMap((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    const isInside = fence !== undefined
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    if (isInside || mark !== undefined || line.startsWith('|')) return [line.trimEnd()]
    const margin = /^\s*/.exec(line)?.[0] ?? ''
    return wrapText(line, width - margin.length).map((part) => margin + part)
  })
}

/** Joins lines of a paragraph that were only broken to fit a page. */
function joinLines(lines: readonly string[]): string[] {
  const joined: string[] = []
  let fence: string | undefined
  // Whether the previous line, as its author wrote it, is full.
  let isFull = false
  for (const line of lines) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    const last = joined.at(-1)
    const goesOn = isFull && last !== undefined && line.trim() !== '' && !blockStart.test(line)
    if (goesOn && fence === undefined) joined[joined.length - 1] = `${last} ${line.trim()}`
    else joined.push(line)
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const isProse = fence === undefined && mark === undefined && !/^\s*(?:#{1,6}\s|\|)/.test(line)
    isFull = isProse && line.length >= fullLineLength && !/(?: {2}|\\)$/.test(line)
  }
  return joined
}

/** Shortens a long value without spaces, such as a key, so that it can still be recognised. */
export function abbreviate(value: string, maxLength = 48): string {
  return value.length <= maxLength ? value : `${value.slice(0, maxLength - 1)}…`
}

/** The page of a chat, which people open, by the address that programs call. */
export function shareLinkOf(chatAddress: string): string {
  return chatAddress.replace(/\/chat\/([^/]+)$/, '/webchat/$1')
}

/** A word as a shell reads it. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
