/** Characters that are in no text: databases refuse some of them, and programs display them in different ways. */
const unstorable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]/gu
/** Control characters between words: ends of lines and pages, and separators of fields and records. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const separators = /[\x0b\x0c\x1c-\x1f]/g
const mayBeUnstorable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]/

/**
 * A text without control characters and halves of characters. Decoding removes those that are written in a file; others
 * are written as escapes, such as `\u0000` in JSON, `&#1;` in HTML and `=00` in e-mails.
 */
export function storable(text: string): string {
  if (!mayBeUnstorable.test(text)) return text
  return text.replace(separators, ' ').replace(unstorable, '')
}

/**
 * Invisible characters of a name or a reason that change the display around them: C1 controls, marks of direction, ends
 * of lines and paragraphs, spaces and operators without width, and tags. Scripts and emoji need joiners, which stay.
 */
const acting =
  /[\x80-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const lineEnds = /[\x85\u2028\u2029]/g

/**
 * A text from a file as part of a sentence of ours: its storable characters, without those that act on a terminal
 * or turn the words around it, whether a program, a terminal or a browser shows it.
 */
export function showable(text: string): string {
  return storable(text).replace(lineEnds, ' ').replace(acting, '')
}

/** The beginning of a text that is longer than it may be, with a sign that more follows. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${storable(text.slice(0, maxLength))} …`
}
