// A map of a bundle is read position by position and not decoded as a whole: that of a bot with the SDK has
// hundreds of thousands of segments, which as objects would take more memory than the bot. Nothing here
// trusts the map: for a wrong entry no place is found.

/** A place in a file of the author: the line from 1, the column from 1. */
interface Place {
  file: string
  line: number
  column: number
}

/** Finds the places in the files of the author from which a bundle was made. */
export interface SourceMap {
  /**
   * Finds the place from which a position of the bundle was made.
   * @param line from 1
   * @param column from 1
   */
  placeOf(line: number, column: number): Place | undefined
}

/** Maximum length in characters of a map that is read. */
const maxMapLength = 48 * 2 ** 20
/** Maximum number of cached positions. */
const maxKept = 2000
/** Maximum length in characters of the name of a file that is shown. */
const maxNameLength = 200

/** Reads the map in a `data:` URL. @returns undefined if there is none, or none that can be read */
export function readSourceMap(url: string | undefined): SourceMap | undefined {
  if (url === undefined || url.length > maxMapLength) return undefined
  const [, parameters = '', data] = /^data:application\/json((?:;[^,;]*)*),(.*)$/s.exec(url) ?? []
  if (data === undefined) return undefined
  try {
    const text = parameters.endsWith(';base64')
      ? Buffer.from(data, 'base64').toString('utf8')
      : decodeURIComponent(data)
    const { version, mappings, sources, sourceRoot } = Object(JSON.parse(text))
    if (version !== 3 || typeof mappings !== 'string' || !Array.isArray(sources)) return undefined
    const root = typeof sourceRoot === 'string' && sourceRoot !== '' ? `${sourceRoot}/` : ''
    return keeping(mappings, (index) => nameOf(sources[index], root))
  } catch {
    return undefined
  }
}

/** The name of a file as stacks show it: below the folder of the project, without characters that end a line or a text. */
function nameOf(source: unknown, root: string): string | undefined {
  if (typeof source !== 'string' || source === '') return undefined
  const name = `${root}${source}`.slice(-maxNameLength).replace(/^(?:\.{1,2}\/+)+/, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break lines and the JSON of a log line
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029"\\]/g, '?')
}

function keeping(mappings: string, nameOfSource: (index: number) => string | undefined): SourceMap {
  const kept = new Map<string, Place | undefined>()
  return {
    placeOf(line, column) {
      const key = `${line}:${column}`
      if (kept.has(key)) return kept.get(key)
      const found = findSegment(mappings, line - 1, column - 1)
      const file = found && nameOfSource(found.source)
      const place =
        found && file !== undefined
          ? { file, line: found.line + 1, column: found.column + 1 }
          : undefined
      if (kept.size >= maxKept) kept.clear()
      kept.set(key, place)
      return place
    },
  }
}

/** The content of a segment: the number of the source, and the line and column there, from 0. */
interface Segment {
  source: number
  line: number
  column: number
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new Int8Array(128).fill(-1)
for (const [value, letter] of [...alphabet].entries()) digits[letter.charCodeAt(0)] = value
const semicolon = 59
const comma = 44
/** Maximum shift of a digit: a number with more digits has more than 32 bits. */
const maxShift = 30

/**
 * Finds the last segment at or before a position, from 0. Lines end with semicolons, segments with commas; each
 * consists of numbers in base 64 that are differences to the segment before, all but the column also across lines.
 */
function findSegment(mappings: string, line: number, column: number): Segment | undefined {
  const now = [0, 0, 0, 0, 0]
  let found: Segment | undefined
  let atLine = 0
  let field = 0
  let number = 0
  let shift = 0
  for (let at = 0; at <= mappings.length; at++) {
    const letter = at === mappings.length ? semicolon : mappings.charCodeAt(at)
    if (letter === comma || letter === semicolon) {
      const [start = 0, source = 0, sourceLine = 0, sourceColumn = 0] = now
      if (atLine === line && field > 0) {
        if (start > column) return found
        // A segment with nothing but a column ends what stood before.
        found = field < 4 ? undefined : { source, line: sourceLine, column: sourceColumn }
      }
      field = 0
      number = 0
      shift = 0
      if (letter === comma) continue
      if (atLine === line) return found
      atLine += 1
      now[0] = 0
      continue
    }
    const digit = digits[letter] ?? -1
    if (digit === -1 || shift > maxShift || field >= now.length) return undefined
    number |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    now[field] = (now[field] ?? 0) + (number & 1 ? -(number >>> 1) : number >>> 1)
    field += 1
    number = 0
    shift = 0
  }
  return undefined
}
