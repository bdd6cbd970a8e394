import { X509Certificate } from 'node:crypto'
import type { RawObjects } from './raw-objects.js'
import { type PdfDictionary, toText } from './syntax.js'

/** Levels of fields in each other that are followed to the signature. */
const maxParents = 20
/** Certificates of a signature that are looked at, and characters of each line. */
const maxCertificates = 20
const maxLineLength = 500

/**
 * Lines of text about the signature in a field: who signed, why, where and when; empty if it is not signed. The parser
 * does not expose signatures.
 *
 * @param field number of the object of the field
 */
export function readSignature(objects: RawObjects, field: number): string[] {
  const signature = signatureOf(objects, field)
  if (signature === undefined || objects.isEncrypted) return []
  const bytesOf = (key: string) => {
    const value = objects.resolve(signature.get(key))
    return typeof value === 'object' && 'bytes' in value ? value.bytes : ''
  }
  const textOf = (key: string) => toText(bytesOf(key)).replace(/\s+/g, ' ').trim()
  const [stated, certified] = [textOf('Name'), nameInCertificate(bytesOf('Contents'))]
  const isSame = stated.toLowerCase() === certified.toLowerCase()
  const names = [stated, isSame ? '' : certified].filter((name) => name !== '')
  const lines: [string, string][] = [
    ['Signed by', names.join(', ')],
    ['Reason', textOf('Reason')],
    ['Location', textOf('Location')],
    ['Date', toDate(textOf('M'))],
  ]
  return lines.flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value}`.slice(0, maxLineLength)],
  )
}

/** Whether a field is signed, whether or not its signature can be read. */
export function isSigned(objects: RawObjects, field: number): boolean {
  return signatureOf(objects, field) !== undefined
}

function signatureOf(objects: RawObjects, field: number): PdfDictionary | undefined {
  let node = objects.dictionaryOf({ reference: field })
  for (let level = 0; node !== undefined && level < maxParents; level += 1) {
    const value = objects.dictionaryOf(node.get('V'))
    if (value !== undefined) return value
    node = objects.dictionaryOf(node.get('Parent'))
  }
  return undefined
}

/** A date such as `D:20240315083000+01'00'` as people write it. */
function toDate(text: string): string {
  const parts =
    /^(?:D:)?(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?/.exec(text)
  if (parts === null) return text
  const [, year, month, day, hour, minute, second = '00', utc, offset, rest = '00'] = parts
  const time = hour === undefined ? '' : ` ${hour}:${minute}:${second}`
  const zone = utc === undefined ? (offset === undefined ? '' : ` ${offset}:${rest}`) : ' UTC'
  return `${year}-${month}-${day}${time}${time === '' ? '' : zone}`
}

/** The common name in the certificate of the signer; empty if it cannot be read. */
function nameInCertificate(bytes: string): string {
  const subjects = certificatesIn(Buffer.from(bytes, 'latin1')).flatMap((each) => {
    try {
      const { subject, ca } = new X509Certificate(each)
      const name = /^CN=(.+)$/m.exec(subject)?.[1]?.trim()
      return name === undefined ? [] : [{ name, ca }]
    } catch {
      return []
    }
  })
  return (subjects.find(({ ca }) => !ca) ?? subjects[0])?.name ?? ''
}

/** The certificates of a signature in the syntax of PKCS #7 (CMS). */
function certificatesIn(data: Buffer): Buffer[] {
  const [content] = elementsIn(data)
  const [, explicit] = elementsIn(content?.inner)
  const [signed] = elementsIn(explicit?.inner)
  const list = elementsIn(signed?.inner).find(({ tag }) => tag === 0xa0)
  return elementsIn(list?.inner)
    .slice(0, maxCertificates)
    .map(({ whole }) => whole)
}

interface DerElement {
  tag: number
  whole: Buffer
  inner: Buffer
}

/** The elements of a list in DER. */
function elementsIn(data: Buffer = Buffer.alloc(0)): DerElement[] {
  const elements: DerElement[] = []
  for (let at = 0; at + 2 <= data.length && elements.length < 100; ) {
    const [tag = 0, first = 0] = data.subarray(at, at + 2)
    const size = first < 0x80 ? 0 : first & 0x7f
    if (size > 4 || first === 0x80 || at + 2 + size > data.length) break
    const length = size === 0 ? first : data.readUIntBE(at + 2, size)
    const start = at + 2 + size
    if (start + length > data.length) break
    elements.push({
      tag,
      whole: data.subarray(at, start + length),
      inner: data.subarray(start, start + length),
    })
    at = start + length
  }
  return elements
}
