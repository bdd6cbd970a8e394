import { RE2JS } from 're2js'

/** A regular expression whose matching time is proportional to the text, whatever the pattern. */
export interface LinearPattern {
  /** Most steps for each character of a text. */
  size: number
  test(text: string): boolean
}

/** The white space of ECMAScript; that of RE2 has only six characters. */
const whiteSpace =
  '\\t-\\r \\xA0\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}'
const tokens = /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\.|./gisu

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
  for (const [token, high, low] of source.matchAll(tokens)) {
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
