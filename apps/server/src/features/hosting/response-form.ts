import { OutgoingError } from '../../platform/outgoing/outgoing.js'

// The code of a program could write anything to its connections, and the parser of HTTP reads some of it without
// bound: a reason phrase, empty lines before a response, spaces before a value. What is read of a program is
// therefore checked before it is parsed.

/** Maximum bytes of the head of a response; the parser takes headers of half as much. */
export const maxHeadLength = 32 * 1024
const headEnd = '\r\n\r\n'
/** A final status: the host program sends no interim responses. */
const firstLine = /^HTTP\/1\.1 [2-9]\d\d /
const interimLine = /^HTTP\/1\.1 1\d\d /
/** A response without a body, whatever its headers say. */
const bodiless = /^HTTP\/1\.1 (?:204|304) /
const lengthHeader = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i

/**
 * Checks the bytes of one connection: a head of a bounded length that says how long the body is, then as many bytes,
 * then the next head. Throws an OutgoingError at what is none of it.
 * @param maxBodyLength maximum bytes of a body
 */
export function createResponseForm(maxBodyLength: number): (piece: Buffer) => void {
  /** The head as far as it came, if it comes in pieces. */
  let kept = Buffer.alloc(0)
  let size = 0
  let bodyLeft = 0

  function keep(part: Buffer): void {
    if (size + part.length > kept.length) {
      const larger = Buffer.alloc(Math.min(maxHeadLength, Math.max(1024, 2 * (size + part.length))))
      kept.copy(larger, 0, 0, size)
      kept = larger
    }
    part.copy(kept, size)
    size += part.length
  }

  /** @returns what follows the head; undefined if its end has not come yet */
  function readHead(piece: Buffer): Buffer | undefined {
    const before = size
    const part = piece.subarray(0, maxHeadLength - size)
    if (before > 0) keep(part)
    const head = before > 0 ? kept.subarray(0, size) : part
    const end = head.indexOf(headEnd, Math.max(0, before - headEnd.length + 1), 'latin1')
    if (end === -1) {
      if (before === 0) keep(part)
      if (size === maxHeadLength) {
        throw refusal(`The head of its response has more than ${maxHeadLength} bytes.`)
      }
      return undefined
    }
    bodyLeft = Math.min(maxBodyLength, bodyLengthIn(head.toString('latin1', 0, end)))
    kept = Buffer.alloc(0)
    size = 0
    return piece.subarray(end + headEnd.length - before)
  }

  return (piece) => {
    let rest: Buffer | undefined = piece
    while (rest !== undefined && rest.length > 0) {
      if (bodyLeft === 0) rest = readHead(rest)
      else {
        const ofBody = Math.min(bodyLeft, rest.length)
        bodyLeft -= ofBody
        rest = rest.subarray(ofBody)
      }
    }
  }
}

/** Bytes of the body that follows a head. */
function bodyLengthIn(head: string): number {
  if (interimLine.test(head)) throw refusal('It sent an interim response.')
  if (!firstLine.test(head)) throw refusal('It sent data other than a response.')
  if (bodiless.test(head)) return 0
  let length: number | undefined
  for (const line of head.split('\r\n')) {
    if (/^transfer-encoding/i.test(line)) {
      throw refusal('Its response does not say how long it is.')
    }
    length ??= toLength(line)
  }
  // Node refuses a request with a response that has neither a length nor a body.
  return length ?? 0
}

function toLength(line: string): number | undefined {
  const [, digits] = lengthHeader.exec(line) ?? []
  return digits === undefined ? undefined : Number(digits)
}

function refusal(reason: string): OutgoingError {
  return new OutgoingError('connection', reason)
}
