import type { PhrasingContent, Text } from 'mdast'

/** A format of a stretch of text. */
export type Mark = { type: 'strong' | 'emphasis' | 'delete' } | { type: 'link'; url: string }

/**
 * Writes the inline content of a block as a browser lays it out: white space is collapsed, and formats go on in the
 * next block if they are still open.
 */
export interface PhraseWriter {
  /** Text of a page, with its white space. */
  text(value: string): void
  /** Separates the next text as a word of its own. */
  gap(): void
  /** Puts the next text on another line, if there is text before and after. */
  separate(): void
  /** A break that is written in the page. */
  lineBreak(): void
  node(node: PhrasingContent): void
  open(mark: Mark): void
  close(): void
  /** Marks that are open. */
  marks(): readonly Mark[]
  /** The end of the text that was written: the form of raised text depends on the text before it. */
  before(): string
  /** Returns the content written since the last call. */
  take(): PhrasingContent[]
}

/** Characters that `before` has at least. */
const tailLength = 40
/** Marks where a word may be broken. A zero-width space separates words in scripts without spaces. */
const breakMarks =
  /\u00ad|\u200b(?![\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])/gu

/** A text without the marks at which a word may be broken. */
export function withoutBreakMarks(text: string): string {
  return text.replace(breakMarks, '')
}

/** A text of a page that is all of a line. */
export function toText(text: string): PhrasingContent[] {
  const value = inOneLine(text).replace(/^ | $/g, '')
  return value === '' ? [] : [{ type: 'text', value }]
}

/** A text with its white space as a browser shows it. */
function inOneLine(text: string): string {
  return withoutBreakMarks(text).replace(/[ \t\n\r\f]+/g, ' ')
}

export function createPhraseWriter(inherited: readonly Mark[] = []): PhraseWriter {
  const marks: Mark[] = [...inherited]
  let top: PhrasingContent[] = []
  /** The nodes of the first marks, as far as there is text in them. */
  let path: PhrasingContent[][] = []
  let pending: '' | ' ' | '\n' = ''
  let isLineStart = true
  let tail = ''

  const append = (node: PhrasingContent) => {
    const children = path.at(-1) ?? top
    const last = children.at(-1)
    if (node.type === 'text' && last?.type === 'text') last.value += node.value
    else children.push(node)
  }
  const appendText = (value: string) => {
    append({ type: 'text', value } satisfies Text)
    tail = `${tail}${value}`.slice(-tailLength * 2)
  }
  /** Writes pending text, outside of the marks that begin here. */
  const begin = () => {
    if (pending === '\n') {
      append({ type: 'break' })
      tail += '\n'
    } else if (pending === ' ') appendText(' ')
    pending = ''
    isLineStart = false
    for (const mark of marks.slice(path.length)) {
      const children: PhrasingContent[] = []
      append({ ...mark, children })
      path.push(children)
    }
  }
  const isEmpty = () => top.length === 0
  const defer = (what: ' ' | '\n') => {
    if (what === '\n' && !isEmpty() && !endsWithBreak(top)) pending = '\n'
    else if (what === ' ' && !isLineStart && pending === '') pending = ' '
  }

  return {
    text(value) {
      const line = inOneLine(value)
      if (line.startsWith(' ')) defer(' ')
      const words = line.replace(/^ | $/g, '')
      if (words === '') return
      begin()
      appendText(words)
      if (line.endsWith(' ')) defer(' ')
    },
    gap: () => defer(' '),
    separate: () => defer('\n'),
    lineBreak() {
      if (isEmpty()) return
      pending = ''
      append({ type: 'break' })
      tail += '\n'
      isLineStart = true
    },
    node(node) {
      begin()
      append(node)
      tail = `${tail}${'value' in node ? node.value : ' '}`.slice(-tailLength * 2)
    },
    open(mark) {
      marks.push(mark)
    },
    close() {
      marks.pop()
      path.length = Math.min(path.length, marks.length)
    },
    marks: () => marks,
    before: () => (pending === '' && !isEmpty() ? tail : ''),
    take() {
      const written = withoutLastBreaks(top)
      top = []
      path = []
      pending = ''
      isLineStart = true
      tail = ''
      return written
    },
  }
}

function endsWithBreak(nodes: readonly PhrasingContent[]): boolean {
  const last = nodes.at(-1)
  if (last === undefined) return false
  return last.type === 'break' || ('children' in last && endsWithBreak(last.children))
}

function withoutLastBreaks(nodes: PhrasingContent[]): PhrasingContent[] {
  let end = nodes.length
  while (end > 0 && nodes[end - 1]?.type === 'break') end -= 1
  return nodes.slice(0, end)
}

/** More characters than this are a text in small letters, not an exponent, an index or a mark. */
export const maxRaised = 20
const ordinalMarks =
  /^(?:st|nd|rd|th|er|ers|re|res|ère|e|es|ème|eme|me|o|os|a|as|º|ª|d|de|le|lle|lles|mes|r|t|te)$/i
const takesOrdinal = /(?:^|[^\p{L}])(?:[\d.]+|[IVXLCDM]+|[nN]|[MDS]|Mm|Dr)$/u
const tradeMarks = /^(?:tm|sm|mc|md|®|©|™|℠|\(r\)|\(tm\))$/i
const noteMarks = /^(?:[[(].*[\])]|[*†‡§¶#]+)$/
/** A letter, a unit or a chemical formula: `m`, `km`, `Ca`, `SO₄`. */
const takesDigits =
  /(?<![\p{L}_^])(?:\p{L}|[pnµumcdk]m|ft|in|yd|mi|[A-Z][a-z]|(?:[A-Z][a-z]?[₀-₉]*){1,6}[₀-₉)])$/u
const sentenceEnd = /[.,;:!?"'”’»…]$/
const raisedDigits: Readonly<Record<string, string>> = signs('0123456789+-−', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻')
const loweredDigits: Readonly<Record<string, string>> = signs('0123456789+-−', '₀₁₂₃₄₅₆₇₈₉₊₋₋')

function signs(plain: string, written: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...plain].map((sign, at) => [sign, [...written][at] ?? sign]))
}

/**
 * The form of a raised or lowered text in a line, so that it changes no number or word beside it: 10 to the power of
 * 6 as `10^6`, a unit as `m²`, a formula as `H₂O`, a note as `word[1]`, an ordinal as `1st`.
 *
 * @param before the text before it
 * @param after the text that follows
 * @returns its text; the words beside it are kept apart where it begins or ends with a blank
 */
export function raise(kind: 'sup' | 'sub', inner: string, before: string, after: string): string {
  const text = inner.replace(/\s+/g, ' ').trim()
  const base = /\S*$/.exec(before)?.[0] ?? ''
  if (text === '') return ''
  if (base === '') return `${text} `
  if (noteMarks.test(text)) return text
  if (kind === 'sup' && tradeMarks.test(text)) return ` ${text} `
  if (kind === 'sup' && ordinalMarks.test(text) && takesOrdinal.test(base)) return text
  const isDigits = /^[+−-]?\d{1,3}$|^\d{0,2}[+−-]$/.test(text)
  if (kind === 'sup' && isDigits && sentenceEnd.test(base)) return `[${text}]`
  const isWord = !/\d[\p{L}₀-₉]*$/u.test(base)
  const takes = kind === 'sub' ? /[\p{L})\]]$/u.test(base) && isWord : takesDigits.test(base)
  if (isDigits && takes && !/^\d/.test(after)) {
    const written = kind === 'sub' ? loweredDigits : raisedDigits
    return [...text].map((sign) => written[sign] ?? sign).join('')
  }
  const marked = /^[+−-]?[\p{L}\p{N}.,*']+$/u.test(text) ? text : `(${text})`
  return `${kind === 'sup' ? '^' : '_'}${marked}${/^[\p{L}\p{N}]/u.test(after) ? ' ' : ''}`
}
