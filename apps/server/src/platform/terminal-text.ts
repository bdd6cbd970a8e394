/**
 * Characters that act on a terminal, or are invisible there: control characters (C0, DEL, C1), marks of direction, line
 * separators, spaces and operators without width, tags, and unpaired surrogates. Scripts and emoji need joiners, which stay.
 */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu
/** The same characters, except for tabs and line feeds: for texts of several lines. */
const actingInText =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu

/**
 * Makes a text of others safe as part of a line: characters that act on a terminal become escapes of JSON, also ends of
 * lines and tabs, so that a name can neither move the cursor nor forge a line.
 */
export function escapeLine(text: string): string {
  return text.replace(acting, escapeFound)
}

/** As {@link escapeLine}, for a text of several lines: ends of lines and tabs stay. */
export function escapeText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(actingInText, escapeFound)
}

/**
 * Removes characters that act on a terminal from a text for reading, such as an answer of a bot, where escapes would
 * disturb. Ends of lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(actingInText, '')
}

/**
 * Escapes characters that act on a terminal in the strings of a JSON text, which means the same afterwards. Between
 * strings, JSON has line breaks and spaces only.
 */
export function escapeJson(json: string): string {
  return json.replace(actingInText, escapeUnits)
}

/**
 * As {@link escapeJson}, but the escapes are still there after the text was parsed: for printers that parse it and
 * write the strings as they are.
 */
export function escapeParsedJson(json: string): string {
  // Each escape is matched as a whole: the second backslash of a pair begins none.
  return escapeJson(json).replace(/\\(?:u[0-9a-f]{4}|.)/gi, (found) =>
    /^\\[bfru]/.test(found) ? `\\${found}` : found,
  )
}

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeFound(found: string): string {
  return short[found] ?? escapeUnits(found)
}

function escapeUnits(found: string): string {
  return found
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
