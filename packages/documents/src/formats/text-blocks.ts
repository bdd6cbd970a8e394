import type { Heading, Paragraph, Text } from 'mdast'
import { heading, onPage } from './nodes.js'
import { findHeadings, type TextLine } from './text-headings.js'

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
