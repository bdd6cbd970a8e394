/** A value of a PDF file, or an operator of a drawing. */
export type PdfValue =
  | number
  | PdfValue[]
  | { name: string }
  /** Bytes of a string, each as a character. */
  | { bytes: string }
  /** Number of an object, and its generation if that is not 0. */
  | { reference: number; generation?: number }
  | { word: string }
  | PdfDictionary

/** Keys without their slash. */
export type PdfDictionary = Map<string, PdfValue>

/** Lists and dictionaries in each other that are read. */
const maxDepth = 40

const [space, comment, slash, left, right] = [0x20, 0x25, 0x2f, 0x28, 0x29]
const [less, greater, open, close, backslash] = [0x3c, 0x3e, 0x5b, 0x5d, 0x5c]

/** Kinds of the first 256 characters: 0 for regular ones, 1 for white space, 2 for delimiters. */
const kinds = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code === 0 || code === 9 || code === 10 || code === 12 || code === 13 || code === space)
    return 1
  return '()<>[]{}/%'.includes(String.fromCharCode(code)) ? 2 : 0
})

/** Reads the values of a text one by one; each byte is a character. */
export interface PdfReader {
  /** The next value; undefined at the end. */
  next(): PdfValue | undefined
  /** Offset of the character after the last value. */
  at(): number
  /** Continues at an offset. */
  seek(offset: number): void
}

/**
 * @param options.skipsText returns strings and lists empty: a drawing has many, which only show text
 */
export function createPdfReader(text: string, { skipsText = false } = {}): PdfReader {
  let at = 0
  const end = text.length

  function skipSpace(): void {
    while (at < end) {
      const code = text.charCodeAt(at)
      if (code === comment) {
        while (at < end && text.charCodeAt(at) !== 10 && text.charCodeAt(at) !== 13) at += 1
      } else if (kinds[code] === 1) at += 1
      else return
    }
  }

  function regular(): string {
    const from = at
    while (at < end && kinds[text.charCodeAt(at)] === 0) at += 1
    return text.slice(from, at)
  }

  function readString(isSkipped: boolean): PdfValue {
    const from = at + 1
    let level = 0
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at)
      if (code === backslash) at += 1
      else if (code === left) level += 1
      else if (code === right) {
        level -= 1
        if (level === 0) break
      }
    }
    at += 1
    return isSkipped ? skipped : { bytes: withoutEscapes(text.slice(from, at - 1)) }
  }

  function readDigits(isSkipped: boolean): PdfValue {
    const stop = text.indexOf('>', at)
    const inner = text.slice(at + 1, stop === -1 ? end : stop)
    at = stop === -1 ? end : stop + 1
    if (isSkipped) return skipped
    const digits = inner.replace(/[^\da-f]/gi, '')
    return {
      bytes: Buffer.from(digits + (digits.length % 2 === 1 ? '0' : ''), 'hex').toString('latin1'),
    }
  }

  function readParts(isEnd: () => boolean, depth: number, isSkipped: boolean): PdfValue[] {
    const parts: PdfValue[] = []
    for (;;) {
      skipSpace()
      if (at >= end || isEnd()) return parts
      const value = read(depth + 1, isSkipped)
      if (value === undefined) return parts
      if (isSkipped) continue
      const [first, second] = parts.slice(-2)
      if (isWord(value, 'R') && typeof first === 'number' && typeof second === 'number') {
        const generation = second === 0 ? undefined : second
        parts.splice(-2, 2, { reference: first, ...(generation && { generation }) })
      } else parts.push(value)
    }
  }

  function readList(depth: number, isSkipped: boolean): PdfValue {
    at += 1
    const parts = readParts(() => text.charCodeAt(at) === close, depth, isSkipped)
    at += 1
    return parts
  }

  function readDictionary(depth: number): PdfValue {
    at += 2
    const isEnd = () => text.charCodeAt(at) === greater
    const parts = readParts(isEnd, depth, false)
    at += 2
    const dictionary: PdfDictionary = new Map()
    for (let key = 0; key + 1 < parts.length; key += 2) {
      const [name, value] = [parts[key], parts[key + 1]]
      if (isName(name) && value !== undefined) dictionary.set(name.name, value)
    }
    return dictionary
  }

  function read(depth: number, isSkipped: boolean): PdfValue | undefined {
    skipSpace()
    if (at >= end) return undefined
    if (depth > maxDepth) {
      at = end
      return undefined
    }
    const code = text.charCodeAt(at)
    if (kinds[code] === 0) return toValue(regular())
    if (code === slash) {
      at += 1
      return { name: toName(regular()) }
    }
    if (code === left) return readString(isSkipped)
    if (code === open) return readList(depth, isSkipped)
    if (code === less) {
      if (text.charCodeAt(at + 1) === less) return readDictionary(depth)
      return readDigits(isSkipped)
    }
    at += 1
    return { word: text.charAt(at - 1) }
  }

  return {
    next: () => read(0, skipsText),
    at: () => at,
    seek: (offset) => {
      at = offset
    },
  }
}

/** The value that a text consists of. */
export function toPdfValue(text: string): PdfValue | undefined {
  return createPdfReader(text).next()
}

/** A string that was not read. */
const skipped: PdfValue = { bytes: '' }
/** Operators and other words, each once: drawings repeat few. */
const words = new Map<string, PdfValue>()
const maxWords = 200

function toWord(word: string): PdfValue {
  const known = words.get(word)
  if (known !== undefined) return known
  const value = { word }
  if (words.size < maxWords && word.length < 8) words.set(word, value)
  return value
}

function toValue(token: string): PdfValue {
  // Numbers begin with a digit, a sign or a point.
  if (token.charCodeAt(0) > 0x39) return toWord(token)
  const number = Number(token)
  return Number.isNaN(number) || token === '' ? toWord(token) : number
}

function toName(token: string): string {
  if (!token.includes('#')) return token
  return token.replace(/#([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

function withoutEscapes(inner: string): string {
  if (!inner.includes('\\')) return inner
  return inner.replace(/\\([0-7]{1,3}|\r\n|[\s\S])/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 0xff)
    // A line that is continued.
    return /^[\r\n]/.test(code) ? '' : (escapes[code] ?? code)
  })
}

function isWord(value: PdfValue | undefined, word: string): boolean {
  return typeof value === 'object' && 'word' in value && value.word === word
}

export function isName(value: PdfValue | undefined): value is { name: string } {
  return typeof value === 'object' && 'name' in value
}

export function isReference(
  value: PdfValue | undefined,
): value is { reference: number; generation?: number } {
  return typeof value === 'object' && 'reference' in value
}

/** Characters of `PDFDocEncoding` from 0x80 on that differ from those of Latin-1. */
const documentCharacters = '•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€'
/** Names of languages within texts in UTF-16. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it marks the names
const languageMarks = /\u001b[^\u001b]{0,12}\u001b/g

/** The characters of a string for people. */
export function toText(bytes: string): string {
  const data = Buffer.from(bytes, 'latin1')
  const decode = (encoding: string) => new TextDecoder(encoding).decode(data)
  if (bytes.startsWith('\u00fe\u00ff')) return decode('utf-16be').replace(languageMarks, '')
  if (bytes.startsWith('\u00ff\u00fe')) return decode('utf-16le').replace(languageMarks, '')
  if (bytes.startsWith('\u00ef\u00bb\u00bf')) return decode('utf-8')
  return bytes.replace(/[\u0080-\u00a0]/g, (sign) =>
    documentCharacters.charAt(sign.charCodeAt(0) - 0x80),
  )
}
