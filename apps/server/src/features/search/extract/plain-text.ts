import type { Heading, Paragraph } from 'mdast'
import { charsetOf, decodeText } from './decode.js'
import type { Extraction, Source } from './extractor.js'
import { heading } from './nodes.js'
import { requireReadable } from './requirements.js'

/** Blank lines and indentation. */
const MARKUP = 2
/** A line below a heading, made of one sign. */
const UNDERLINE = /^(?:={3,}|-{3,}|~{3,}|\*{3,}|\+{3,})$/
/** The line is as long as the heading, give or take so many characters. */
const UNEVEN = 3
/** The last step of a list, above a rule across the page that happens to be as long. */
const STEP = /^\s*\d{1,2}[.)]\s.*[.,;:]$/
/** A number of a section below another one, and its name. */
const SUBSECTION = /^(\d{1,2}(?:\.\d{1,2}){1,4})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u
const SECTION = /^(\d{1,2})\.?[ \t]{1,4}(?=\p{L}).{1,80}(?<![.,;:])$/u

/**
 * Reads plain text: blank lines separate paragraphs, and lines that are underlined or numbered as sections
 * are headings; everything else stays as it is written.
 */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeText(source.bytes, charsetOf(source.contentType))
  const text = requireReadable(decoded, source, MARKUP)
  const paragraphs = toParagraphs(text)
  const sections = sectionsWithParts(paragraphs)
  const blocks = paragraphs.flatMap((each) => toBlocks(each, sections))
  return { root: { type: 'root', children: blocks } }
}

/** Text between blank lines, each piece a paragraph. */
export function toParagraphs(text: string): Paragraph[] {
  const paragraphs: Paragraph[] = []
  let lines: string[] = []
  const close = () => {
    const value = lines.join('\n')
    if (value !== '') paragraphs.push({ type: 'paragraph', children: [{ type: 'text', value }] })
    lines = []
  }
  for (const line of text.split('\n')) {
    if (line.trim() === '') close()
    else lines.push(line.trimEnd())
  }
  close()
  return paragraphs
}

/** Numbers that have subsections: a `2.1` says that `2.` is a section and no item of a list. */
function sectionsWithParts(paragraphs: readonly Paragraph[]): ReadonlySet<string> {
  const numbers = paragraphs.map((each) => SUBSECTION.exec(textOf(each))?.[1]?.split('.')[0])
  return new Set(numbers.filter((number) => number !== undefined))
}

/** A paragraph, or the heading that it is or begins with. */
function toBlocks(paragraph: Paragraph, sections: ReadonlySet<string>): (Heading | Paragraph)[] {
  const text = textOf(paragraph)
  const [first = '', second = '', ...rest] = text.split('\n')
  const isLined = UNDERLINE.test(second) && Math.abs(first.length - second.length) <= UNEVEN
  if (isLined && !STEP.test(first)) {
    const title = heading(second.startsWith('=') ? 1 : 2, first.trim())
    if (rest.length === 0) return [title]
    return [title, { type: 'paragraph', children: [{ type: 'text', value: rest.join('\n') }] }]
  }
  const number = SUBSECTION.exec(text)?.[1] ?? sectionOf(text, sections)
  return number === undefined ? [paragraph] : [heading(number.split('.').length, text)]
}

function sectionOf(text: string, sections: ReadonlySet<string>): string | undefined {
  const number = SECTION.exec(text)?.[1]
  return number !== undefined && sections.has(number) ? number : undefined
}

function textOf({ children: [text] }: Paragraph): string {
  return text?.type === 'text' ? text.value : ''
}
