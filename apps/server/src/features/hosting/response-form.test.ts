import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createResponseForm, maxHeadLength } from './response-form.js'

const maxBodyLength = 1000

/** Checks text in pieces that end at the given places. @returns why it is refused */
function refusalOf(text: string, cuts: readonly number[] = []): string | undefined {
  const check = createResponseForm(maxBodyLength)
  const bytes = Buffer.from(text, 'latin1')
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  let start = 0
  try {
    for (const end of ends) {
      check(bytes.subarray(start, end))
      start = end
    }
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown'
  }
  return undefined
}

const response = (status: number, headers: string, body = '') =>
  `HTTP/1.1 ${status} Reason\r\n${headers}\r\n${body}`
const valid = [
  response(200, 'Content-Length: 3\r\n', '\r\n\r'),
  response(204, 'x: y\r\n'),
  response(304, 'content-length: 7\r\n'),
  response(431, 'connection: close\r\n'),
  response(200, 'a: b\r\ncontent-length:4\r\n', 'HTTP'),
  response(999, 'content-length: 0\r\n'),
]
const cuts = fc.array(fc.nat(), { maxLength: 20 })

describe('the form of what a program writes', () => {
  it('responses pass one after the other, in any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...valid)), cuts, (responses, at) => {
        expect(refusalOf(responses.join(''), at)).toBeUndefined()
      }),
    )
  })

  it.each([
    ['other bytes', 'x'.repeat(maxHeadLength), 'head'],
    ['long heads', response(200, `a: ${'x'.repeat(maxHeadLength)}\r\n`), 'head'],
    ['interim responses', response(103, ''), 'interim'],
    ['chunks', response(200, 'Transfer-Encoding: chunked\r\n'), 'how long'],
    ['empty lines', '\r\n\r\n', 'other than'],
    ['other versions', 'HTTP/1.0 200 OK\r\n\r\n', 'other than'],
    ['bodies without length', response(200, '', `x\r\n\r\n`), 'other than'],
    ['bytes beyond the length', response(200, 'content-length: 1\r\n', 'xx\r\n\r\n'), 'other than'],
    ['bodies of bodiless responses', response(204, 'content-length: 1\r\n', 'x\r\n\r\n'), 'other'],
  ])('%s are refused, in any pieces and after any response', (_, text, why) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...valid), { maxLength: 3 }), cuts, (before, at) => {
        expect(refusalOf(`${before.join('')}${text}`, at)).toContain(why)
      }),
      { numRuns: 30 },
    )
  })

  it('a body is bounded, whatever length its head names', () => {
    const head = response(200, `content-length: ${'9'.repeat(15)}\r\n`)
    expect(refusalOf(head + 'x'.repeat(maxBodyLength))).toBeUndefined()
    expect(refusalOf(head + 'x'.repeat(maxBodyLength + maxHeadLength))).toContain('head')
  })
})
