import type { Passage, PassageKind } from '@botstead/documents'

/** A passage as a caller gives it. */
export interface GivenPassage {
  /** Markdown. */
  content: string
  type?: PassageKind
  pageNumber?: number
}

/** A heading above passages; a title has the depth 1. */
interface Heading {
  depth: number
  text: string
}

const headingLine = /^(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/
/** Characters of a heading that are repeated above every passage below it. */
const longestHeading = 200

/** Converts passages from a caller to the stored form; headings are parsed from them. */
export function toPassages(given: readonly GivenPassage[]): Passage[] {
  let path: Heading[] = []
  let start = 0
  return given.map(({ content, type, pageNumber }, position) => {
    const own = ownHeadings(content, type)
    const depth = own[0]?.depth ?? Number.POSITIVE_INFINITY
    const above = path.filter((heading) => heading.depth < depth)
    path = [...above, ...own]
    const passage = {
      content,
      type: 'chunk' as const,
      subtype: type ?? subtypeOf(own),
      ...(pageNumber !== undefined && { pageNumber }),
      position,
      headings: above.map(({ text }) => text),
      ownHeadings: own.map(({ text }) => text),
      start,
      end: start + content.length,
    }
    // The same distance as between the blocks of a document.
    start = passage.end + 2
    return passage
  })
}

/** The headings at the beginning of a passage; a passage whose type is a heading counts as one without the mark. */
function ownHeadings(content: string, type: PassageKind | undefined): Heading[] {
  const headings: Heading[] = []
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  for (const line of lines) {
    const [, marks = '', text = ''] = headingLine.exec(line) ?? []
    if (text === '') break
    headings.push({ depth: marks.length, text: cut(text) })
  }
  if (headings.length > 0 || (type !== 'title' && type !== 'subtitle')) return headings
  return [{ depth: type === 'title' ? 1 : 2, text: cut((lines[0] ?? '').trim()) }]
}

function subtypeOf([first]: readonly Heading[]): PassageKind {
  if (first === undefined) return 'paragraph'
  return first.depth === 1 ? 'title' : 'subtitle'
}

function cut(text: string): string {
  return [...text].slice(0, longestHeading).join('')
}
