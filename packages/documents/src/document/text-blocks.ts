import type { Heading, Paragraph, Text } from 'mdast'
import { heading, onPage } from './nodes.js'

/** A line below a heading, made of one sign. */
const UNDERLINE = /^(?:={3,}|-{3,}|~{3,}|\*{3,}|\+{3,})$/
/** The line is as long as the heading, give or take so many characters. */
const UNEVEN = 3
/** The last step of a list, above a rule across the page that happens to be as long. */
const STEP = /^\s*\d{1,2}[.)]\s.*[.,;:]$/
/** A number of a section below another one, and its name. */
const SUBSECTION = /^(\d{1,2}(?:\.\d{1,2}){1,4})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u
const SECTION = /^(\d{1,2})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u

/** Text between blank lines, each piece a paragraph. */
export function toParagraphs(text: string): Paragraph[] {
  return toParts(toTextLines(text), new Map()).flatMap((part) => {
    return Array.isArray(part) ? [toParagraph(part)] : []
  })
}

export function toTextLines(text: string): TextLine[] {
  return text.split('\n').map((line) => ({ text: line }))
}

/** The paragraphs of a text, which blank lines part, and its headings. */
export function toTextBlocks(lines: readonly TextLine[]): (Heading | Paragraph)[] {
  const parts = toParts(lines, findHeadings(lines))
  const sections = sectionsWithParts(parts)
  return parts.flatMap((part) => (Array.isArray(part) ? toBlocks(part, sections) : [part]))
}

function toParts(
  lines: readonly TextLine[],
  headings: ReadonlyMap<number, number>,
): (Heading | TextLine[])[] {
  const parts: (Heading | TextLine[])[] = []
  let open: TextLine[] = []
  const close = () => {
    if (open.length > 0) parts.push(open)
    open = []
  }
  lines.forEach((line, at) => {
    const level = headings.get(at)
    if (level !== undefined) {
      close()
      parts.push(toHeading(level, line))
    } else if (line.text.trim() === '') close()
    else open.push(line)
  })
  close()
  return parts
}

/** Numbers that have subsections: a `2.1` says that `2.` is a section and no item of a list. */
function sectionsWithParts(parts: readonly (Heading | TextLine[])[]): ReadonlySet<string> {
  const numbers = parts.flatMap((part) => {
    if (!Array.isArray(part)) return []
    return SUBSECTION.exec(textOf(part))?.[1]?.split('.')[0] ?? []
  })
  return new Set(numbers)
}

/** A paragraph, or the heading that it is or begins with. */
function toBlocks(
  lines: readonly TextLine[],
  sections: ReadonlySet<string>,
): (Heading | Paragraph)[] {
  const [first, second, ...rest] = lines
  if (first === undefined) return []
  const [title, rule] = [first.text, second?.text.trimEnd() ?? '']
  const isLined = UNDERLINE.test(rule) && Math.abs(title.trimEnd().length - rule.length) <= UNEVEN
  if (isLined && !STEP.test(title.trimEnd())) {
    const named = toHeading(rule.startsWith('=') ? 1 : 2, first)
    return rest.length === 0 ? [named] : [named, toParagraph(rest)]
  }
  const text = textOf(lines)
  const number = SUBSECTION.exec(text)?.[1] ?? sectionOf(text, sections)
  return [number === undefined ? toParagraph(lines) : toHeading(number.split('.').length, first)]
}

function sectionOf(text: string, sections: ReadonlySet<string>): string | undefined {
  const number = SECTION.exec(text)?.[1]
  return number !== undefined && sections.has(number) ? number : undefined
}

function toHeading(level: number, { text, page }: TextLine): Heading {
  const named = heading(level, text.trim())
  return page === undefined ? named : onPage(named, page)
}

/** Everything stays as it is written, in as many pieces as there are pages that it goes over. */
function toParagraph(lines: readonly TextLine[]): Paragraph {
  const pieces: { page: number | undefined; texts: string[] }[] = []
  for (const { text, page } of lines) {
    const last = pieces.at(-1)
    if (last !== undefined && last.page === page) last.texts.push(text.trimEnd())
    else pieces.push({ page, texts: [text.trimEnd()] })
  }
  const children = pieces.map(({ page, texts }, at): Text => {
    const value = `${texts.join('\n')}${at < pieces.length - 1 ? '\n' : ''}`
    return page === undefined ? { type: 'text', value } : onPage({ type: 'text', value }, page)
  })
  const paragraph: Paragraph = { type: 'paragraph', children }
  const page = lines[0]?.page
  return page === undefined ? paragraph : onPage(paragraph, page)
}

function textOf(lines: readonly TextLine[]): string {
  return lines.map(({ text }) => text.trimEnd()).join('\n')
}

/** A line of a text as it stands there. */
export interface TextLine {
  text: string
  /** From 1, in formats that have pages. */
  page?: number
}

/** Share of the lines of a set-in text, such as a manual, that begin to the right of its margin ... */
const SET_IN = 0.3
/** ... and the share of those that begin at it and are no heading or the edge of a page. */
const MOST_OTHERS = 0.1
/** Fewer lines say nothing about how a text is set. */
const LEAST_LINES = 8
/** Share of the lines that begin where the text of sections does; what is further left is above it. */
const BODY_SHARE = 0.1
/** Headings that a text has at least: one line alone may be anything. */
const LEAST_HEADINGS = 2
/** A line that comes more often is a label, such as `NOTE`. */
const MOST_REPEATS = 2
const LONGEST = 80
const TAB = 8
const MOST_WORDS = 9
const MOST_SHOUTED_WORDS = 6

const NUMBER =
  /^(?:Appendix )?((?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.[ \t]{1,4}(?=\S)|^(\d{1,2}(?:\.\d{1,2}){1,4})[ \t]{1,4}(?=\S)/
/** Signs of code, tables and sentences; a heading has none of them. */
const FOREIGN = /[{}=;<>\\|$@#"`~]|\s{2}|\t|,\S|\d:\d|[.,;:!]$|\.{4}/
/** Begins lines of logs and warnings. */
const LEVEL =
  /^(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FAIL(?:ED|URE)?|FATAL|CRITICAL|ALERT|SEVERE|PANIC|EXCEPTION|CAUTION|DANGER|ATTENTION|IMPORTANT|NOTE|ACHTUNG|WARNUNG|HINWEIS)\b/i
/** Words of sentences that are written in capitals to be noticed. */
const SENTENCE =
  /\b(?:PLEASE|NOT|NEVER|ALWAYS|MUST|SHALL|SHOULD|CAN|WILL|IS|ARE|WAS|BE|YOU|YOUR|THIS|THAT|IT|WE|BITTE|NICHT|NIE|IMMER|MUSS|IST|SIND|NE PAS|NO)\b/
/** The first line of a manual page: its name, what it belongs to, its name. */
const MANUAL = /^(\S{1,60}\(\w{1,8}\))\s{2,}\S.*\s\1$/i

/**
 * The lines of a text that are its headings although nothing marks them as such, with their levels from 1:
 * those further left than the text below them, where the text is set in as in manuals and RFCs; else those
 * in capitals. Rather too few of them: a wrong heading stands above everything that follows.
 */
function findHeadings(lines: readonly TextLine[]): Map<number, number> {
  const filled = lines.flatMap(({ text }, at) => (text.trim() === '' ? [] : [at]))
  const title = filled.slice(0, 1).filter((at) => MANUAL.test(textAt(lines, at)))
  const rest = filled.slice(title.length)
  const found = findSetIn(lines, rest) ?? findShouted(lines, rest)
  if (found.size === 0) return found
  const levels = [...found].map(([at, level]): [number, number] => [at, level + title.length])
  return new Map([...title.map((at): [number, number] => [at, 1]), ...levels])
}

/** Undefined where the text is not set in. */
function findSetIn(
  lines: readonly TextLine[],
  filled: readonly number[],
): Map<number, number> | undefined {
  const setIn = filled.map((at) => indentAt(lines, at)).filter((indent) => indent >= 2)
  const others = filled.filter((at) => {
    const text = textAt(lines, at)
    return indentAt(lines, at) < 2 && !isName(text.trim()) && !/\S {3,}\S/.test(text)
  })
  const isSetIn =
    setIn.length >= filled.length * SET_IN && others.length <= filled.length * MOST_OTHERS
  if (filled.length < LEAST_LINES || !isSetIn) return undefined
  const counts = new Map<number, number>()
  for (const indent of setIn) counts.set(indent, (counts.get(indent) ?? 0) + 1)
  const common = [...counts].filter(([, count]) => count >= filled.length * BODY_SHARE)
  const body = Math.min(...common.map(([indent]) => indent))
  const isAbove = (at: number, next: number) => indentAt(lines, at) < indentAt(lines, next)
  // From the end on, because a heading may stand above nothing but another one.
  const found = new Map<number, number>()
  filled.toReversed().forEach((at, index, reversed) => {
    const next = reversed[index - 1]
    const text = textAt(lines, at).trim()
    const indent = indentAt(lines, at)
    if (next === undefined || indent >= body || !isName(text)) return
    if (!opensBlock(lines, at) && !isAbove(reversed[index + 1] ?? at, at)) return
    const leads = isAbove(at, next) || (found.has(next) && next > at + 1)
    if (leads) found.set(at, numberOf(text)?.split('.').length ?? (indent === 0 ? 1 : 2))
  })
  return withoutLabels(lines, new Map([...found].toReversed()))
}

function findShouted(lines: readonly TextLine[], filled: readonly number[]): Map<number, number> {
  const isCandidate = (at: number) => {
    return opensBlock(lines, at) && isShouted(textAt(lines, at).trimEnd())
  }
  const found = new Map<number, number>()
  filled.forEach((at, index) => {
    const next = filled[index + 1]
    if (next === undefined || !isCandidate(at)) return
    const isTitle = index === 0 && isCandidate(next)
    const isText = /\p{Ll}/u.test(textAt(lines, next)) || indentAt(lines, next) > 0
    const leads = isTitle || (isText && !isCandidate(next))
    if (leads) found.set(at, isTitle ? 1 : 2)
  })
  const kept = withoutLabels(lines, found)
  if ([...kept.values()].includes(1)) return kept
  return new Map([...kept.keys()].map((at) => [at, 1]))
}

/** What is said again and again is a label of what follows it, and one heading is none. */
function withoutLabels(
  lines: readonly TextLine[],
  found: ReadonlyMap<number, number>,
): Map<number, number> {
  const counts = new Map<string, number>()
  const keyOf = (at: number) => textAt(lines, at).trim()
  for (const at of found.keys()) counts.set(keyOf(at), (counts.get(keyOf(at)) ?? 0) + 1)
  const kept = [...found].filter(([at]) => (counts.get(keyOf(at)) ?? 0) <= MOST_REPEATS)
  const names = new Set(kept.map(([at]) => keyOf(at)))
  return new Map(names.size < LEAST_HEADINGS ? [] : kept)
}

/** Whether a line may be the name of a section. */
function isName(text: string): boolean {
  const number = NUMBER.exec(text)?.[0] ?? ''
  const name = text.slice(number.length)
  if (text.length > LONGEST || FOREIGN.test(name) || LEVEL.test(name)) return false
  return (
    /^[("']?[\p{Lu}\p{Lo}\p{N}]/u.test(name) &&
    wordsOf(name).length <= MOST_WORDS &&
    /\p{L}/u.test(name)
  )
}

function isShouted(text: string): boolean {
  const words = wordsOf(text)
  const isCapital = /^\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lo}]/u.test(text)
  if (!isCapital || !isName(text) || SENTENCE.test(text)) return false
  // Acronyms and codes are in capitals wherever they stand.
  return words.length <= MOST_SHOUTED_WORDS && words.some((word) => /^\p{Lu}{4,}$/u.test(word))
}

/** Number of a section, without its last stop. */
function numberOf(text: string): string | undefined {
  const [, named, plain] = NUMBER.exec(text) ?? []
  return named ?? plain
}

function wordsOf(text: string): string[] {
  return text.split(/[\s/-]+/).filter((word) => word !== '')
}

function opensBlock(lines: readonly TextLine[], at: number): boolean {
  return at === 0 || textAt(lines, at - 1).trim() === ''
}

function indentAt(lines: readonly TextLine[], at: number): number {
  const blank = /^[ \t]*/.exec(textAt(lines, at))?.[0] ?? ''
  return blank.replaceAll('\t', ' '.repeat(TAB)).length
}

function textAt(lines: readonly TextLine[], at: number): string {
  return lines[at]?.text ?? ''
}
