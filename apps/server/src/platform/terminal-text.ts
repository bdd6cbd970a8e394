/**
 * Characters that act on a terminal, or are not seen there: controls (C0, DEL, C1), marks of direction, separators of
 * lines, spaces and operators without width, tags, and halves of a character. Joiners stay, which scripts and emoji need.
 */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu
/** The same in a text of several lines. */
const actingInText =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu

/**
 * A text that others wrote as part of a line: what acts on a terminal is shown as an escape of JSON, ends of lines
 * and tabs included, so that a name can neither move the cursor nor forge a line.
 */
export function escapeLine(text: string): string {
  return text.replace(acting, escapeFound)
}

/** As {@link escapeLine}, for a text of several lines: ends of lines and tabs stay. */
export function escapeText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(actingInText, escapeFound)
}

/**
 * A text for reading, such as an answer of a bot, without what acts on a terminal: there an escape would be in the way.
 * Ends of lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(actingInText, '')
}

/**
 * JSON whose strings have nothing that acts on a terminal. It means the same: what JSON itself does not escape
 * becomes an escape, and between strings there are line breaks and spaces alone.
 */
export function escapeJson(json: string): string {
  return json.replace(actingInText, escapeUnits)
}

/**
 * JSON whose strings show what acts on a terminal as an escape also after they were parsed: for printers that parse
 * it and write the strings as they are.
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
