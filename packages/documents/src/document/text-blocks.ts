import type { Heading, Paragraph, Text } from 'mdast'
import { heading, onPage } from './nodes.js'

/** A line of a text. */
export interface TextLine {
  text: string
  /** From 1, in formats that have pages. */
  page?: number
}

/** The underline of a heading: one repeated sign. */
const underlinePattern = /^(?:={3,}|-{3,}|~{3,}|\*{3,}|\+{3,})$/
/** Characters by which the lengths of a heading and its underline may differ. */
const maxUnderlineDifference = 3
/** The last step of a list, above a rule that happens to be as long. */
const listStep = /^\s*\d{1,2}[.)]\s.*[.,;:]$/
/** Number and name of a subsection. */
const subsectionPattern = /^(\d{1,2}(?:\.\d{1,2}){1,4})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u
/** Number and name of a section without a section above it. */
const sectionPattern = /^(\d{1,2})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u

/** Splits a text into paragraphs at blank lines. */
export function toParagraphs(text: string): Paragraph[] {
  return toParts(toTextLines(text), new Map()).flatMap((part) => {
    return Array.isArray(part) ? [toParagraph(part)] : []
  })
}

/** Splits a text into lines without page numbers. */
export function toTextLines(text: string): TextLine[] {
  return text.split('\n').map((line) => ({ text: line }))
}

/** Splits a text into paragraphs at blank lines, and finds its headings. */
export function toTextBlocks(lines: readonly TextLine[]): (Heading | Paragraph)[] {
  const parts = toParts(lines, findHeadings(lines))
  const sections = sectionsWithSubsections(parts)
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

/** Numbers of sections with subsections: because of a `2.1`, a `2.` is a section and not a list item. */
function sectionsWithSubsections(parts: readonly (Heading | TextLine[])[]): ReadonlySet<string> {
  const numbers = parts.flatMap((part) => {
    if (!Array.isArray(part)) return []
    return subsectionPattern.exec(textOf(part))?.[1]?.split('.')[0] ?? []
  })
  return new Set(numbers)
}

/** The blocks of lines without a blank one: a heading, a paragraph, or a heading above a paragraph. */
function toBlocks(
  lines: readonly TextLine[],
  sections: ReadonlySet<string>,
): (Heading | Paragraph)[] {
  const [first, second, ...rest] = lines
  if (first === undefined) return []
  const [title, rule] = [first.text, second?.text.trimEnd() ?? '']
  const isLined =
    underlinePattern.test(rule) &&
    Math.abs(title.trimEnd().length - rule.length) <= maxUnderlineDifference
  if (isLined && !listStep.test(title.trimEnd())) {
    const named = toHeading(rule.startsWith('=') ? 1 : 2, first)
    return rest.length === 0 ? [named] : [named, toParagraph(rest)]
  }
  const text = textOf(lines)
  const number = subsectionPattern.exec(text)?.[1] ?? sectionOf(text, sections)
  return [number === undefined ? toParagraph(lines) : toHeading(number.split('.').length, first)]
}

function sectionOf(text: string, sections: ReadonlySet<string>): string | undefined {
  const number = sectionPattern.exec(text)?.[1]
  return number !== undefined && sections.has(number) ? number : undefined
}

function toHeading(level: number, { text, page }: TextLine): Heading {
  const named = heading(level, text.trim())
  return page === undefined ? named : onPage(named, page)
}

/** A paragraph with its lines as written, one node per page. */
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

/** Share of the lines of an indented text, such as a manual, that begin to the right of its margin ... */
const indentedShare = 0.3
/** ... and the share of lines at the margin that are neither headings nor page headers. */
const maxOtherShare = 0.1
/** Lines that are needed to decide whether a text is indented. */
const minLines = 8
/** Share of the lines that begin at the indentation of the text of sections; headings are further left. */
const bodyShare = 0.1
/** Headings of a text; a single one may be any line. */
const minHeadings = 2
/** Occurrences of a heading; a line that occurs more often is a label, such as `NOTE`. */
const maxRepeats = 2
/** Characters of a heading. */
const maxLength = 80
/** Columns of a tab. */
const tabWidth = 8
/** Words of a heading. */
const maxHeadingWords = 9
/** Words of a heading in capitals. */
const maxCapitalWords = 6

const sectionNumber =
  /^(?:Appendix )?((?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.[ \t]{1,4}(?=\S)|^(\d{1,2}(?:\.\d{1,2}){1,4})[ \t]{1,4}(?=\S)/
/** Signs of code, tables and sentences, which headings do not contain. */
const nonHeadingSigns = /[{}=;<>\\|$@#"`~]|\s{2}|\t|,\S|\d:\d|[.,;:!]$|\.{4}/
/** Words at the beginning of log lines and warnings. */
const logLevel =
  /^(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FAIL(?:ED|URE)?|FATAL|CRITICAL|ALERT|SEVERE|PANIC|EXCEPTION|CAUTION|DANGER|ATTENTION|IMPORTANT|NOTE|ACHTUNG|WARNUNG|HINWEIS)\b/i
/** Words of sentences that are in capitals for emphasis. */
const sentenceWord =
  /\b(?:PLEASE|NOT|NEVER|ALWAYS|MUST|SHALL|SHOULD|CAN|WILL|IS|ARE|WAS|BE|YOU|YOUR|THIS|THAT|IT|WE|BITTE|NICHT|NIE|IMMER|MUSS|IST|SIND|NE PAS|NO)\b/
/** The first line of a manual page: its name, its section, its name again. */
const manualTitle = /^(\S{1,60}\(\w{1,8}\))\s{2,}\S.*\s\1$/i

/**
 * Finds headings without markup, with their levels from 1: in an indented text such as a manual or an RFC,
 * lines further left than the text below them; else lines in capitals. In doubt, a line is not a heading,
 * because a wrong one would affect everything that follows.
 */
function findHeadings(lines: readonly TextLine[]): Map<number, number> {
  const filled = lines.flatMap(({ text }, at) => (text.trim() === '' ? [] : [at]))
  const title = filled.slice(0, 1).filter((at) => manualTitle.test(textAt(lines, at)))
  const rest = filled.slice(title.length)
  const headings = findOutdented(lines, rest) ?? findCapitals(lines, rest)
  if (headings.size === 0) return headings
  const levels = [...headings].map(([at, level]): [number, number] => [at, level + title.length])
  return new Map([...title.map((at): [number, number] => [at, 1]), ...levels])
}

/** Headings of an indented text; undefined if the text is not indented. */
function findOutdented(
  lines: readonly TextLine[],
  filled: readonly number[],
): Map<number, number> | undefined {
  const indented = filled.map((at) => indentAt(lines, at)).filter((indent) => indent >= 2)
  const others = filled.filter((at) => {
    const text = textAt(lines, at)
    return indentAt(lines, at) < 2 && !isName(text.trim()) && !/\S {3,}\S/.test(text)
  })
  const isIndented =
    indented.length >= filled.length * indentedShare &&
    others.length <= filled.length * maxOtherShare
  if (filled.length < minLines || !isIndented) return undefined
  const counts = new Map<number, number>()
  for (const indent of indented) counts.set(indent, (counts.get(indent) ?? 0) + 1)
  const common = [...counts].filter(([, count]) => count >= filled.length * bodyShare)
  const body = Math.min(...common.map(([indent]) => indent))
  const isAbove = (at: number, next: number) => indentAt(lines, at) < indentAt(lines, next)
  // From the end, because a heading may be directly above another one.
  const headings = new Map<number, number>()
  filled.toReversed().forEach((at, index, reversed) => {
    const next = reversed[index - 1]
    const text = textAt(lines, at).trim()
    const indent = indentAt(lines, at)
    if (next === undefined || indent >= body || !isName(text)) return
    if (!opensBlock(lines, at) && !isAbove(reversed[index + 1] ?? at, at)) return
    const leads = isAbove(at, next) || (headings.has(next) && next > at + 1)
    if (leads) headings.set(at, numberOf(text)?.split('.').length ?? (indent === 0 ? 1 : 2))
  })
  return withoutLabels(lines, new Map([...headings].toReversed()))
}

function findCapitals(lines: readonly TextLine[], filled: readonly number[]): Map<number, number> {
  const isCandidate = (at: number) => {
    return opensBlock(lines, at) && isInCapitals(textAt(lines, at).trimEnd())
  }
  const headings = new Map<number, number>()
  filled.forEach((at, index) => {
    const next = filled[index + 1]
    if (next === undefined || !isCandidate(at)) return
    const isTitle = index === 0 && isCandidate(next)
    const isText = /\p{Ll}/u.test(textAt(lines, next)) || indentAt(lines, next) > 0
    const leads = isTitle || (isText && !isCandidate(next))
    if (leads) headings.set(at, isTitle ? 1 : 2)
  })
  const kept = withoutLabels(lines, headings)
  if ([...kept.values()].includes(1)) return kept
  return new Map([...kept.keys()].map((at) => [at, 1]))
}

/** Drops repeated lines, which are labels, and a single heading. */
function withoutLabels(
  lines: readonly TextLine[],
  headings: ReadonlyMap<number, number>,
): Map<number, number> {
  const counts = new Map<string, number>()
  const keyOf = (at: number) => textAt(lines, at).trim()
  for (const at of headings.keys()) counts.set(keyOf(at), (counts.get(keyOf(at)) ?? 0) + 1)
  const kept = [...headings].filter(([at]) => (counts.get(keyOf(at)) ?? 0) <= maxRepeats)
  const names = new Set(kept.map(([at]) => keyOf(at)))
  return new Map(names.size < minHeadings ? [] : kept)
}

/** Whether a line may be the name of a section. */
function isName(text: string): boolean {
  const number = sectionNumber.exec(text)?.[0] ?? ''
  const name = text.slice(number.length)
  if (text.length > maxLength || nonHeadingSigns.test(name) || logLevel.test(name)) return false
  return (
    /^[("']?[\p{Lu}\p{Lo}\p{N}]/u.test(name) &&
    wordsOf(name).length <= maxHeadingWords &&
    /\p{L}/u.test(name)
  )
}

function isInCapitals(text: string): boolean {
  const words = wordsOf(text)
  const isCapital = /^\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lo}]/u.test(text)
  if (!isCapital || !isName(text) || sentenceWord.test(text)) return false
  // Acronyms and codes are always in capitals.
  return words.length <= maxCapitalWords && words.some((word) => /^\p{Lu}{4,}$/u.test(word))
}

/** The number of a section, without its last full stop. */
function numberOf(text: string): string | undefined {
  const [, named, plain] = sectionNumber.exec(text) ?? []
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
  return blank.replaceAll('\t', ' '.repeat(tabWidth)).length
}

function textAt(lines: readonly TextLine[], at: number): string {
  return lines[at]?.text ?? ''
}
