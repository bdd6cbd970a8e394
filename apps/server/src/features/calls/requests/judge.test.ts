import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { judge, signatureOf } from './index.js'

const judged = (status: number, body = '', headers = {}) =>
  judge({ status, headers, body: Buffer.from(body) })

describe('the verdict on a response', () => {
  it.each([200, 201, 204, 299])('takes %i as delivered', (status) => {
    expect(judged(status)).toEqual({ result: 'delivered' })
  })

  it.each([400, 401, 404, 410, 413, 422])('takes %i as final', (status) => {
    expect(judged(status)).toMatchObject({ result: 'refused' })
  })

  it.each([301, 302, 307, 408, 425, 429, 500, 502, 503, 504])('tries again after %i', (status) => {
    expect(judged(status)).toMatchObject({ result: 'retry', waitMs: 0 })
  })

  it('contains the error of the receiver: a standard body, an SDK body, bare text, or nothing', () => {
    const errorOf = (body: string) => {
      const verdict = judged(400, body)
      return verdict.result === 'delivered' ? '' : verdict.error
    }
    expect(errorOf('{"code":400,"message":"no channel"}')).toBe('Status 400: no channel')
    expect(errorOf('{"error":"Missing header"}')).toBe('Status 400: Missing header')
    expect(errorOf('{"message":5}')).toBe('Status 400: {"message":5}')
    expect(errorOf('<html>oh</html>')).toBe('Status 400: <html>oh</html>')
    expect(errorOf('null')).toBe('Status 400: null')
    expect(errorOf(' ')).toBe('Status 400: no reason given')
    expect(errorOf('x'.repeat(4000))).toHaveLength('Status 400: '.length + 500)
  })

  it('waits for as many seconds as the receiver requests', () => {
    expect(judged(503, '', { 'retry-after': '7' })).toMatchObject({ waitMs: 7000 })
    for (const odd of ['-1', 'soon', '1.5', ['7', '8']]) {
      expect(judged(503, '', { 'retry-after': odd })).toMatchObject({ waitMs: 0 })
    }
  })
})

describe('the signature', () => {
  it('is what a receiver computes from the time and the body, once per secret', () => {
    const body = '{"event":{"id":"evt_1","text":"ü"}}'
    const mac = (secret: string) =>
      createHmac('sha256', secret).update(`1700000000.${body}`).digest('hex')
    expect(signatureOf(['new', 'old'], body, 1_700_000_000_999)).toBe(
      `t=1700000000,v1=${mac('new')},v1=${mac('old')}`,
    )
  })
})
