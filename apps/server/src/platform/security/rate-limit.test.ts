import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimiter } from './rate-limit.js'

function limiter(perMinute: number, burst: number, maxKeys = 100) {
  const clock = {
    time: 1_700_000_000_000,
    now: () => clock.time,
  }
  return { clock, ...createRateLimiter({ perMinute, burst, clock, maxKeys }) }
}

describe('a bucket', () => {
  it('allows the burst at once, then refuses with the time to wait', () => {
    const { take } = limiter(60, 3)
    expect(take('a')).toEqual({
      allowed: true,
      limit: 3,
      remaining: 2,
      resetSeconds: 1,
      retryAfterSeconds: 0,
    })
    take('a')
    expect(take('a')).toMatchObject({ allowed: true, remaining: 0, retryAfterSeconds: 1 })
    expect(take('a')).toEqual({
      allowed: false,
      limit: 3,
      remaining: 0,
      resetSeconds: 3,
      retryAfterSeconds: 1,
    })
  })

  it('allows again exactly at that time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6_000 }),
        fc.integer({ min: 1, max: 50 }),
        (perMinute, burst) => {
          const { take, clock } = limiter(perMinute, burst)
          for (let count = 0; count < burst; count++) expect(take('a').allowed).toBe(true)
          const refused = take('a')
          expect(refused.allowed).toBe(false)
          clock.time += refused.retryAfterSeconds * 1000
          expect(take('a').allowed).toBe(true)
          clock.time += take('a').resetSeconds * 1000
          expect(take('a').remaining).toBe(burst - 1)
        },
      ),
    )
  })

  it('belongs to one key', () => {
    const { take } = limiter(60, 1)
    expect(take('a').allowed).toBe(true)
    expect(take('a').allowed).toBe(false)
    expect(take('b').allowed).toBe(true)
  })

  it('keeps refilling after the clock stepped back', () => {
    const { take, clock } = limiter(60, 1)
    take('a')
    clock.time -= 3_600_000
    expect(take('a').allowed).toBe(false)
    clock.time += 1_000
    expect(take('a').allowed).toBe(true)
  })
})

describe('the number of allowed requests', () => {
  it('is at least the burst and at most the burst and the rate times the time', () => {
    const rates = fc.integer({ min: 1, max: 1_000 })
    const waits = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 20 }), waits, (perMinute, burst, steps) => {
        const { take, clock } = limiter(perMinute, burst)
        let allowed = 0
        let elapsed = 0
        for (const step of steps) {
          clock.time += step
          elapsed += step
          if (take('a').allowed) allowed += 1
          expect(allowed).toBeLessThanOrEqual(burst + (perMinute * elapsed) / 60_000)
        }
        expect(allowed).toBeGreaterThanOrEqual(Math.min(burst, steps.length))
      }),
    )
  })
})

describe('memory', () => {
  it('is bounded: the key that was quiet longest is forgotten', () => {
    const { take } = limiter(60, 1, 2)
    take('old')
    take('young')
    take('young')
    take('new')
    expect(take('young').allowed).toBe(false)
    expect(take('old').allowed).toBe(true)
  })
})
