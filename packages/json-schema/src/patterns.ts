import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** A regular expression whose matching time is proportional to the text, whatever the pattern. */
export interface LinearPattern {
  /** Maximum number of steps for each character of a text. */
  size: number
  test(text: string): boolean
}

/** The white space of ECMAScript; that of RE2 has only six characters. */
const whiteSpace =
  '\\t-\\r \\xA0\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}'
const ecmaTokens = /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\.|./gisu

/**
 * Compiles a pattern as ECMAScript reads it with the flag `u`, for an engine that never backtracks.
 * Undefined for what such an engine does not support: look-around, back-references, more than 1000 repetitions.
 * @throws SyntaxError if it is not a regular expression
 */
export function linearPattern(source: string): LinearPattern | undefined {
  new RegExp(source, 'u')
  const translated = translate(source)
  if (translated === undefined) return undefined
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(translated))
    return { size: pattern.programSize(), test: (text) => pattern.matcher(text).find() }
  } catch {
    return undefined
  }
}

/** Rewrites for RE2 the syntax that both dialects share but interpret differently. */
function translate(source: string): string | undefined {
  let isInClass = false
  let result = ''
  for (const [token, high, low] of source.matchAll(ecmaTokens)) {
    if (high !== undefined && low !== undefined) {
      result += String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
    } else if (token === '\\k') return undefined
    else if (token === '\\s') result += isInClass ? whiteSpace : `[${whiteSpace}]`
    else if (token === '\\S' && !isInClass) result += `[^${whiteSpace}]`
    else if (token === '.' && !isInClass) result += '[^\\n\\r\\x{2028}\\x{2029}]'
    // ECMAScript has no POSIX classes such as [:alpha:].
    else if (token === '[' && isInClass) result += '\\['
    else result += token
    if (token === '[') isInClass = true
    else if (token === ']') isInClass = false
  }
  return result
}

/** Maximum weight of all patterns in one schema: compiling them takes some hundredths of a second. */
const maxWeight = 4000

/** By source, also those that cannot be checked: many schemas share few patterns. */
const compiled = new LRUCache<string, { pattern: LinearPattern | undefined }>({
  maxSize: 50 * maxWeight,
  sizeCalculation: (_, source) => Math.min(maxWeight, weightOf(source)),
})

/** The patterns of one schema. */
export interface Patterns {
  /** The pattern with this source; undefined for what cannot be checked. */
  compile(source: string): LinearPattern | undefined
  /** Sources that cannot be checked. */
  readonly unchecked: readonly string[]
  /** Whether all of them together would take too long to compile. */
  readonly isTooLarge: boolean
}

/** Compiles the patterns of one schema, and adds up how long that takes. */
export function createPatterns(): Patterns {
  const unchecked: string[] = []
  const weighed = new Set<string>()
  let weight = 0
  return {
    unchecked,
    get isTooLarge() {
      return weight > maxWeight
    },
    compile(source) {
      if (!weighed.has(source)) weight += weightOf(source)
      weighed.add(source)
      const pattern = weight > maxWeight ? undefined : find(source)
      if (pattern === undefined) unchecked.push(source)
      return pattern
    },
  }
}

function find(source: string): LinearPattern | undefined {
  const found = compiled.get(source)
  if (found !== undefined) return found.pattern
  const pattern = compilePattern(source)
  compiled.set(source, { pattern })
  return pattern
}

/** A source that is not a regular expression matches every text: such definitions were accepted before. */
function compilePattern(source: string): LinearPattern | undefined {
  try {
    return linearPattern(source)
  } catch {
    return undefined
  }
}

const tokens =
  /\[\^?(?:\\.|[^\\\]])*\]|\\[pP]\{[^}]*\}|\\.|\(\?<?[=!:]?|\{(\d+)(?:,(\d*))?\}|[()*+?|]|./gsu

/**
 * About how long a pattern takes to compile, in hundredths of a millisecond: the engine writes out
 * what is repeated, and a Unicode class is a list of hundreds of ranges.
 */
function weightOf(source: string): number {
  const classes = source.split(/\\p/i).length - 1
  return Math.ceil(source.length / 3) + 20 * classes + writtenOut(source)
}

/** Parts of a pattern with all repetitions written out. */
function writtenOut(source: string): number {
  const open: number[] = []
  let sum = 0
  let last = 0
  for (const [token, least, most] of source.matchAll(tokens)) {
    if (least !== undefined) {
      // No engine of this kind supports more repetitions.
      const times = Math.min(1000, Math.max(1, Number(most || least)))
      sum += last * (times - 1)
      last *= times
    } else if (token.startsWith('(')) {
      open.push(sum)
      sum += 1
    } else if (token === ')') {
      last = sum - (open.pop() ?? 0)
    } else {
      last = 1
      sum += 1
    }
  }
  return sum
}
