import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTimeLimit } from './time-limit.js'

describe('a time limit', () => {
  const onLate = vi.fn()
  const open = () => createTimeLimit({ work: 100, start: 1000 }, onLate)

  beforeEach(() => {
    onLate.mockClear()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('adds up what was spent on one thing, without the time in between', () => {
    const limit = open()
    for (const spending of ['work', 'start', 'work', 'start'] as const) {
      limit.count(spending)
      vi.advanceTimersByTime(40)
    }
    limit.count('work')
    vi.advanceTimersByTime(19)
    expect(onLate).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(onLate).toHaveBeenCalledOnce()
  })

  it('limits each of the two', () => {
    const limit = open()
    limit.count('work')
    vi.advanceTimersByTime(99)
    limit.count('start')
    vi.advanceTimersByTime(999)
    expect(onLate).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(onLate).toHaveBeenCalledOnce()
  })

  it('goes on counting when it is told the same again', () => {
    const limit = open()
    for (let round = 0; round < 10; round++) {
      limit.count('work')
      vi.advanceTimersByTime(10)
    }
    expect(onLate).toHaveBeenCalledOnce()
  })

  it('counts nothing once it is over', () => {
    const [ended, late] = [open(), open()]
    ended.count('work')
    ended.end()
    ended.count('start')
    late.count('work')
    vi.advanceTimersByTime(100)
    late.count('start')
    vi.advanceTimersByTime(5000)
    expect(onLate).toHaveBeenCalledOnce()
  })
})
