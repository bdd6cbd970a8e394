import type { Extraction, Source } from '../document/extraction.js'
import { decodeSource } from './decode.js'
import { extractMarkdown } from './markdown.js'

/** Reads MDX: Markdown without imports, exports and expressions. Components are read as their content. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeSource(source)
  return await extractMarkdown(withoutJsx(text), source, { indentedCode: false })
}

/** Attributes of components that contain text for the reader. */
const textAttribute =
  /^(?:title|label|header|heading|summary|description|caption|alt|question|name)$/
const fencePattern = /^ {0,3}(`{3,}|~{3,})/
const statementPattern = /^(?:import|export)\s/
const stringLiteral = /^\s*(["'`])((?:(?!\1)[^\\]|\\.)*)\1\s*$/

/**
 * The Markdown in an MDX document. Code stays as it is. Elsewhere imports, exports, comments and
 * expressions are removed, and tags of components are replaced by the texts of their attributes.
 */
function withoutJsx(source: string): string {
  const out: string[] = []
  const lines = source.split('\n')
  let prose: string[] = []
  let fence: string | undefined
  let isStatement = false

  const close = () => {
    if (prose.length > 0) out.push(readProse(prose.join('\n')))
    prose = []
  }
  lines.forEach((line, index) => {
    const mark = fencePattern.exec(line.trimStart())?.[1]
    if (fence !== undefined) {
      out.push(line)
      if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined
      return
    }
    if (mark !== undefined) {
      close()
      fence = mark
      out.push(line.trimStart())
      return
    }
    // A statement begins after a blank line and ends at the next one.
    const previous = lines[index - 1] ?? ''
    const begins = previous.trim() === '' || statementPattern.test(previous) || previous === '---'
    if (begins && statementPattern.test(line)) isStatement = true
    if (line.trim() === '') isStatement = false
    if (!isStatement) prose.push(line)
  })
  close()
  return out.join('\n')
}

function readProse(text: string): string {
  const out: string[] = []
  let from = 0
  let at = 0
  // An unclosed tag is text, and so is all that follows: searching again each time would take quadratic time.
  let unended = false
  const skipTo = (end: number, instead: string) => {
    out.push(text.slice(from, at), instead)
    from = end
    at = end
  }
  while (at < text.length) {
    const character = text.charAt(at)
    if (character === '\\') at += 2
    else if (character === '`') at = endOfCode(text, at)
    else if (character === '{' && !unended) {
      const end = endOfBraces(text, at)
      unended = end === undefined
      if (end !== undefined) skipTo(end, stringLiteral.exec(text.slice(at + 1, end - 1))?.[2] ?? '')
    } else if (character === '<' && !unended && isComponent(text, at)) {
      const tag = readTag(text, at)
      unended = tag === undefined
      if (tag !== undefined) skipTo(tag.end, tag.instead)
    } else at += 1
  }
  out.push(text.slice(from))
  return out.join('')
}

/** Components have a capital or a dot in their name, fragments no name; other tags are HTML in Markdown. */
function isComponent(text: string, at: number): boolean {
  return /^<\/?(?:[A-Z][\w.]*|[a-z]\w*\.[\w.]+|(?=>))/.test(text.slice(at, at + 80))
}

/** Reads up to the `>` outside of strings and braces, and collects text for the reader. */
function readTag(text: string, start: number): { end: number; instead: string } | undefined {
  const texts: string[] = []
  let at = start + 1
  while (at < text.length && text.charAt(at) !== '>') {
    const attribute = /^([\w:-]+)=(?=["'])/.exec(text.slice(at, at + 60))
    const character = text.charAt(at)
    if (attribute !== null) at += attribute[0].length
    else if (character === '{') {
      const end = endOfBraces(text, at)
      if (end === undefined) return undefined
      at = end
      continue
    } else if (character !== '"' && character !== "'") {
      at += 1
      continue
    }
    const quote = text.charAt(at)
    const end = text.indexOf(quote, at + 1)
    if (end === -1) return undefined
    if (attribute?.[1] !== undefined && textAttribute.test(attribute[1]))
      texts.push(text.slice(at + 1, end))
    at = end + 1
  }
  if (at >= text.length) return undefined
  const isAlone = /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 200), start))
  const words = texts.join('\n\n')
  if (!isAlone) return { end: at + 1, instead: words === '' ? '' : ` ${words} ` }
  return { end: at + 1, instead: words === '' ? '\n\n' : `\n\n${words}\n\n` }
}

function endOfBraces(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '{') depth += 1
    else if (character === '}') {
      depth -= 1
      if (depth === 0) return at + 1
    } else if (character === '"' || character === '`') {
      const end = text.indexOf(character, at + 1)
      if (end !== -1) at = end
    }
  }
  return undefined
}

function endOfCode(text: string, start: number): number {
  const ticks = /^`+/.exec(text.slice(start, start + 100))?.[0] ?? '`'
  const end = text.indexOf(ticks, start + ticks.length)
  return end === -1 ? start + ticks.length : end + ticks.length
}
