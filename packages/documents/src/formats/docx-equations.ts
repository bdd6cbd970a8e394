import { fraction, root, scripts } from './omml.js'

/** Parts inside of each other; deeper ones are an attack. */
const maxDepth = 20

/** The state of reading the code of an `EQ` field. */
interface Reader {
  readonly code: string
  at: number
}

/**
 * The text that an `EQ` field draws, in one line as {@link formulaText} writes formulas: `\f(1,2)` as `1/2`, `\s\up5(2)` as
 * `^2`, and a reading above Japanese words as `漢字(かんじ)`. Such a field has no stored result.
 *
 * @returns an empty text if the instruction is of another field
 */
export function equationText(instruction: string): string {
  const code = /^\s*EQ\s+(?:\\\*\s*\w+\s+|\\\*\s*"[^"]*"\s+)*([\s\S]*)$/i.exec(instruction)?.[1]
  if (code === undefined) return ''
  return readUntil({ code: code.trim(), at: 0 }, '', 0).replace(/\s+/g, ' ').trim()
}

/** Text and parts up to one of these characters, which is not read. */
function readUntil(reader: Reader, ends: string, depth: number): string {
  let text = ''
  let brackets = 0
  while (reader.at < reader.code.length) {
    const sign = reader.code.charAt(reader.at)
    if (brackets === 0 && ends.includes(sign) && ends !== '') break
    if (sign === '(') brackets += 1
    if (sign === ')' && brackets > 0) brackets -= 1
    if (sign === '\\' && depth < maxDepth) text += readPart(reader, depth)
    else {
      text += sign
      reader.at += 1
    }
  }
  return text
}

const partPattern = /\\([a-z])((?:\s*\\[a-z]{2}(?:\s?-?\d+|\s?\\?[^\s\w\\(])?)*)\s*/iy

/** A part such as `\f(1,2)`, with the options between its name and its arguments; else the sign behind a backslash. */
function readPart(reader: Reader, depth: number): string {
  partPattern.lastIndex = reader.at
  const [whole, name = '', options = ''] = partPattern.exec(reader.code) ?? []
  const end = reader.at + (whole?.length ?? 0)
  if (whole === undefined || reader.code.charAt(end) !== '(') {
    reader.at += 2
    return reader.code.charAt(reader.at - 1)
  }
  reader.at = end
  return partText(name.toLowerCase(), options.toLowerCase(), readArguments(reader, depth))
}

function readArguments(reader: Reader, depth: number): string[] {
  const found: string[] = []
  while (reader.at < reader.code.length && (found.length === 0 || isNext(reader))) {
    reader.at += 1
    found.push(readUntil(reader, ',;)', depth + 1).trim())
  }
  reader.at += 1
  return found
}

function isNext({ code, at }: Reader): boolean {
  return code.charAt(at) === ',' || code.charAt(at) === ';'
}

function partText(name: string, options: string, parts: readonly string[]): string {
  const [first = '', second = '', third = ''] = parts
  switch (name) {
    case 'f':
      return fraction(first, second)
    case 'r':
      return parts.length > 1 ? root(second, first) : root(first, '')
    case 's':
      return scripted(options, parts)
    case 'i':
      return `${scripts(/\\su/.test(options) ? '∑' : /\\pr/.test(options) ? '∏' : '∫', first, second)} ${third}`
    case 'o':
      return overstruck(parts)
    case 'b':
      return `(${parts.join(', ')})`
    default:
      return parts.join(', ')
  }
}

function scripted(options: string, parts: readonly string[]): string {
  const [first = '', second = ''] = parts
  if (parts.length > 1) return scripts('', second, first)
  return /\\do/.test(options) ? scripts('', first, '') : scripts('', '', first)
}

/** Characters above each other: a reading above words in Japanese, else one after the other. */
function overstruck(parts: readonly string[]): string {
  const [above = '', base = ''] = parts
  const reading = /^\^\(?([^()]+)\)?$/.exec(above)?.[1]
  return parts.length === 2 && reading !== undefined ? `${base}(${reading})` : parts.join('')
}
