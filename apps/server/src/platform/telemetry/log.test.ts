import { describe, expect, it } from 'vitest'
import { createLog, describeError, type LogOptions } from './log.js'

async function record(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = await createLog({ level: 'info', ...options, destination })
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line)) }
}

describe('log lines', () => {
  it('are one JSON object with level, time and message', async () => {
    const { log, parsed } = await record()
    log.child({ part: 'bus' }).warn({ attempt: 2 }, 'connection lost')
    expect(parsed()).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        part: 'bus',
        attempt: 2,
        msg: 'connection lost',
      },
    ])
  })

  it('below the level are dropped', async () => {
    const { log, lines } = await record({ level: 'error' })
    log.warn('nobody reads this')
    expect(lines).toEqual([])
  })

  it('are plain text for people when configured', async () => {
    const { log, lines } = await record({ pretty: true })
    log.info({ port: 8787 }, 'listening')
    expect(lines.join('')).toMatch(/INFO.*: listening\n\s+port: 8787/)
  })

  it.each([false, true])(
    'have no control characters for a terminal, pretty: %s',
    async (pretty) => {
      const { log, lines } = await record({ pretty })
      const hostile = 'evil\u001b[2J\u009b31m\u202e\r\ud800'
      log.warn({ key: hostile, err: new Error(hostile) }, hostile)
      const text = lines.join('')
      expect(text).not.toMatch(/[^\n\P{Cc}]|[\u202e\ud800]/u)
      expect(text.match(/evil\\u001b\[2J\\u009b31m\\u202e/g)?.length).toBeGreaterThan(2)
    },
  )
})

describe('credentials', () => {
  const secret = 'bp_pat_5ecr3t'

  it.each([
    ['a header', { headers: { authorization: `Bearer ${secret}` } }],
    ['a user key', { headers: { 'x-user-key': secret } }],
    ['a header one level down', { answer: { headers: { authorization: secret } } }],
    ['a cookie', { headers: { cookie: secret } }],
    ['a member', { token: secret }],
    ['a nested member', { bot: { secret } }],
  ])('in %s are blanked', async (_place, facts) => {
    const { log, lines } = await record()
    log.info(facts, 'request')
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toContain(secret)
    expect(lines[0]).toContain('[redacted]')
  })

  it('in the address of a request are left out', async () => {
    const { log, parsed } = await record()
    const url = `/uploads/${secret}?x-user-key=${secret}`
    log.info({ req: { method: 'GET', url, ip: '192.0.2.1', headers: {} } }, 'request')
    expect(parsed()).toMatchObject([{ req: { method: 'GET', ip: '192.0.2.1' } }])
    expect(JSON.stringify(parsed())).not.toContain(secret)
  })
})

describe('errors', () => {
  it('are logged with code and the whole chain of causes', async () => {
    const { log, parsed } = await record()
    const root = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', auth: 'secret' })
    const failure = new TypeError('could not connect', {
      cause: new Error('dial', { cause: root }),
    })
    log.error({ err: failure }, 'start failed')
    const [line] = parsed()
    expect(line.err).toMatchObject({
      type: 'TypeError',
      message: 'could not connect',
      stack: expect.stringContaining('log.test'),
      cause: { message: 'dial', cause: { message: 'refused', code: 'ECONNREFUSED' } },
    })
    expect(line.err.cause.cause).not.toHaveProperty('auth')
  })

  it('keep the parts of an aggregate', () => {
    const described = describeError(new AggregateError([new Error('one'), 'two'], 'both'))
    expect(described).toMatchObject({ message: 'both', errors: [{ message: 'one' }, 'two'] })
  })

  it('end when causes form a loop', () => {
    const first = new Error('first')
    first.cause = new Error('second', { cause: first })
    expect(JSON.stringify(describeError(first)).split('"first"')).toHaveLength(6)
  })
})
