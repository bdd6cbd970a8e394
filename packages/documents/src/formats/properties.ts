import { decodeText } from './decode.js'

/** A line of a calendar or an address book: name, parameters and value. */
export interface Property {
  name: string
  /** With the semicolon before each. */
  parameters: string
  value: string
}

/** Characters of the name and the parameters of a line. */
const maxHead = 100_000

const isQuoted = /;(?:ENCODING=)?QUOTED-PRINTABLE\b/i

/** The folded lines of a calendar or an address book. Lines that are none are left out. */
export function toProperties(text: string): Property[] {
  const joined = isQuoted.test(text) ? text.replace(/=\n[ \t]?/g, '') : text
  return joined
    .replace(/\n[ \t]/g, '')
    .split('\n')
    .flatMap((line) => {
      // A colon in quotes belongs to a parameter; a name may stand behind that of a group, such as `item1.TEL`.
      const [head, name, parameters = ''] =
        /^(?:[\w-]{1,80}\.)?([\w-]{1,80})((?:;(?:[^":;]|"[^"]*")*)*):/.exec(
          line.slice(0, maxHead),
        ) ?? []
      if (head === undefined || name === undefined) return []
      const value = line.slice(head.length)
      const read = isQuoted.test(parameters) ? fromQuoted(value, parameters) : value
      return [{ name: name.toUpperCase(), parameters, value: read }]
    })
}

/** A value that older programs encode. */
function fromQuoted(value: string, parameters: string): string {
  const codes = value.replace(/=([\dA-F]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const charset = /;CHARSET="?([\w.:-]+)/i.exec(parameters)?.[1]
  return /[^\0-\xff]/.test(codes) ? value : decodeText(Buffer.from(codes, 'latin1'), charset)
}

/** A value without its escapes, such as `\,` and `\n`. */
export function unescaped(value: string): string {
  return value
    .replace(/\\([nN,;:\\])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign))
    .trim()
}
