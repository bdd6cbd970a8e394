import { type MarkedLine, takeUntil } from './marked-lines.js'
import { raise } from './phrases.js'

const levels: Readonly<Record<string, number>> = {
  part: 1,
  chapter: 1,
  section: 2,
  subsection: 3,
  subsubsection: 4,
  paragraph: 5,
}
const headingPattern =
  /^\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}(.*)$/
const titlePattern = /^\\title(?:\[[^\]]*\])?\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}(.*)$/
const codePattern = /^\\begin\{(verbatim\*?|lstlisting|minted|Verbatim)\}/
/** Lines that only set up the document. */
const setup =
  /^\\(?:documentclass|usepackage|maketitle|tableofcontents|newpage|clearpage|centering|small|large|label|includegraphics|bibliographystyle|bibliography|pagestyle|noindent|begin|end|tightlist|toprule|midrule|bottomrule|hline|endfirsthead|endhead|endfoot|endlastfoot)(?:\[[^\]]*\])?(?:\{[^}]*\})?(?:\[[^\]]*\])?$/
/** The same of lists, tables and targets of links, as programs write it. */
const programSetup =
  /^\\(?:begin\{(?:longtable|tabular[x*]?|table\*?|figure\*?|minipage)\}(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\}){0,2}|hypertarget\{[^{}]*\}\{%?|def\\label\w+\{.*\}|setcounter\{\w+\}\{\d+\})$/
const loneItem = /^ {0,40}\\item(?:\[[^\]]{0,200}\])?$/
const beginsOther = /^\s*(?:\\(?:begin|end|item)\b|$)/
/** Characters of the longest line that is a command; longer ones are text. */
const maxCommandLine = 500

/** Combining characters of the commands that put an accent above or below the next letter. */
const accents: Readonly<Record<string, string>> = {
  '"': '\u0308',
  "'": '\u0301',
  '`': '\u0300',
  '^': '\u0302',
  '~': '\u0303',
  '=': '\u0304',
  '.': '\u0307',
  u: '\u0306',
  v: '\u030c',
  H: '\u030b',
  c: '\u0327',
  k: '\u0328',
  r: '\u030a',
  d: '\u0323',
  b: '\u0331',
}
const letters: Readonly<Record<string, string>> = {
  ss: 'ß',
  ae: 'æ',
  AE: 'Æ',
  oe: 'œ',
  OE: 'Œ',
  o: 'ø',
  O: 'Ø',
  l: 'ł',
  L: 'Ł',
  aa: 'å',
  AA: 'Å',
  i: 'ı',
  j: 'ȷ',
  ldots: '…',
  dots: '…',
  textendash: '–',
  textemdash: '—',
  texteuro: '€',
  euro: '€',
  pounds: '£',
  S: '§',
  P: '¶',
  copyright: '©',
  textdegree: '°',
  textbackslash: '\\',
}

/** Reads the text of TeX: sections, listings, items, and letters with accents. Formulas stay as they are written. */
export function readTex(lines: readonly string[]): MarkedLine[] {
  const read: MarkedLine[] = []
  for (let at = 0; at < lines.length; ) {
    // Programs write the mark of an item above its text.
    const isItem = loneItem.test(lines[at] ?? '') && !beginsOther.test(lines[at + 1] ?? '')
    if (isItem) at += 1
    const whole = isItem ? `${lines[at - 1]} ${lines[at]?.trim() ?? ''}` : (lines[at] ?? '')
    const line = whole.length > maxCommandLine ? '' : whole.trim()
    at += 1
    const [, command, name, rest] = headingPattern.exec(line) ?? []
    const [, title, behind = ''] = titlePattern.exec(line) ?? []
    const listing = codePattern.exec(line)?.[1]
    if (command !== undefined && name !== undefined) {
      read.push({ kind: 'heading', level: levels[command] ?? 2, text: toText(name) })
      // The brace closes the target of links around the heading.
      const text = toText(rest ?? '').trim()
      if (text !== '}') read.push({ kind: 'text', text })
    } else if (title !== undefined) {
      read.push({ kind: 'title', text: toText(title) })
      if (behind.trim() !== '') read.push({ kind: 'text', text: toText(behind) })
    } else if (listing !== undefined) {
      const { taken, next } = takeUntil(lines, at, (each) => each.includes(`\\end{${listing}}`))
      read.push({ kind: 'code', language: '', lines: taken })
      at = next
    } else if (!setup.test(line) && !programSetup.test(line))
      read.push({ kind: 'text', text: toText(whole) })
  }
  return read
}

function toText(source: string): string {
  return source
    .replace(/\\(["'`^~=.]) {0,4}(?:\{ {0,4}\\?([a-zA-Z]) {0,4}\}|\\?([a-zA-Z]))/g, withAccent)
    .replace(/\\([uvHckrdb])(?: {0,4}\{ {0,4}\\?([a-zA-Z]) {0,4}\}| {1,4}([a-zA-Z]))/g, withAccent)
    .replace(/\\([a-zA-Z]{1,20})(?:\{\}| {1,4}|\b)/g, (whole, name: string) =>
      Object.hasOwn(letters, name) ? (letters[name] ?? whole) : whole,
    )
    .replace(
      /\\(?:emph|text(?:bf|it|tt|sc|sf|sl|rm|up|md)?|underline|mbox|caption|url|author|date|thanks)\{([^{}]{0,2000})\}/g,
      '$1',
    )
    .replace(/\\footnote\{([^{}]{0,2000})\}/g, ' ($1)')
    .replace(/\\multi(?:column|row)\{[^{}]{0,80}\}\{[^{}]{0,80}\}\{([^{}]{0,2000})\}/g, '$1')
    .replace(/(?<!\\)\\[,;:]/g, ' ')
    .replace(/\\href\{([^{}]{0,2000})\}\{([^{}]{0,2000})\}/g, '$2 ($1)')
    .replace(/\\text(super|sub)script\{([^{}]{0,200})\}/g, withRaised)
    .replace(/\\item\b {0,4}(?:\[([^\]]{0,200})\])? {0,4}/g, (_, label?: string) => {
      return `- ${label === undefined ? '' : `${label}: `}`
    })
    .replace(/\\\\(?:\[[^\]]{0,80}\])?|\\tabularnewline\b/g, ' ')
    .replace(/\\label\{[^{}]{0,200}\}/g, '')
    .replace(/\\([%&_$#{}])/g, '$1')
    .replace(/(?<!\\)~/g, ' ')
    .replace(plainGroup, '$1')
}

/** Braces around words. Those of commands, exponents and indexes delimit their arguments and stay. */
const plainGroup =
  /(?<!\\[a-zA-Z]{1,30}\*?(?:\[[^[\]]{0,80}\])?(?:\{[^{}]{0,200}\}){0,2})(?<![\^_])\{([^{}\\$]{0,2000})\}/g

function withRaised(
  command: string,
  place: string,
  inner: string,
  at: number,
  whole: string,
): string {
  const after = whole.slice(at + command.length, at + command.length + 1)
  return raise(
    place === 'super' ? 'sup' : 'sub',
    inner,
    whole.slice(Math.max(0, at - 40), at),
    after,
  )
}

function withAccent(_: string, accent: string, braced?: string, plain?: string): string {
  return `${braced ?? plain ?? ''}${accents[accent] ?? ''}`.normalize('NFC')
}
