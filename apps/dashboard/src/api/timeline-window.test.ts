import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addEarlier,
  addLater,
  renewEnd,
  type TimelineEntry,
  type TimelineWindow,
  windowOf,
} from './timeline-window.js'

const pageSize = 5

/** A timeline as the server pages it; tokens are positions. */
function createServer(count: number) {
  let number = 0
  const entries: TimelineEntry[] = []
  const append = (text: string) => {
    number += 1
    // Two entries share each time.
    const at = new Date(Math.floor(number / 2)).toISOString()
    const log = { timestamp: at, level: 'info', message: text }
    entries.push({ kind: 'log', id: `line ${number}`, at, log })
  }
  for (let index = 0; index < count; index++) append('begin')
  const page = (from: number, to: number) => ({
    entries: entries.slice(Math.max(0, from), to),
    meta: {
      ...(from > 0 && { previousToken: String(from) }),
      ...(to < entries.length && { nextToken: String(to) }),
    },
  })
  return {
    entries,
    append,
    end: () => page(entries.length - pageSize, entries.length),
    from: (start: number) => page(start, start + pageSize),
    before: (token = '0') => page(Number(token) - pageSize, Number(token)),
    behind: (token = '0') => page(Number(token), Number(token) + pageSize),
  }
}

type Server = ReturnType<typeof createServer>

/** As the screen does it: goes back until it finds what is known. */
function renew(server: Server, window: TimelineWindow): TimelineWindow {
  let page = server.end()
  for (;;) {
    const next = renewEnd(window, page)
    if (next !== undefined) return next
    const earlier = server.before(page.meta.previousToken)
    const { nextToken: _, ...meta } = earlier.meta
    page = { entries: [...earlier.entries, ...page.entries], meta }
  }
}

describe('the window of a timeline', () => {
  it('has what the server has from its first entry on, however it grows', () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ kind: fc.constant('remove' as const), fromEnd: fc.integer({ max: 4, min: 0 }) }),
      fc.record({ kind: fc.constant('edit' as const), fromEnd: fc.integer({ max: 4, min: 0 }) }),
      fc.record({ kind: fc.constant('earlier' as const) }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), fc.array(change), (count, changes) => {
        const server = createServer(count)
        let window = windowOf(server.end())
        for (const step of changes) {
          const index = 'fromEnd' in step ? server.entries.length - 1 - step.fromEnd : -1
          const entry = server.entries[index]
          if (step.kind === 'earlier') {
            const [first] = window.entries
            const start = server.entries.findIndex(({ id }) => id === first?.id)
            if (window.previousToken !== undefined) {
              window = addEarlier(window, server.before(String(start)))
            }
          } else if (step.kind === 'append') {
            for (let left = step.count; left > 0; left--) server.append('later')
          } else if (step.kind === 'remove') {
            server.entries.splice(Math.max(0, index), 1)
          } else if (entry?.kind === 'log') {
            server.entries[index] = { ...entry, log: { ...entry.log, message: 'edited' } }
          }
          window = renew(server, window)
          const known = window.entries.length
          expect(window.entries).toEqual(known === 0 ? [] : server.entries.slice(-known))
          expect(window.previousToken === undefined).toBe(known === server.entries.length)
        }
      }),
    )
  })

  it('stays the same object when nothing changed, and keeps unchanged entries', () => {
    const server = createServer(8)
    const window = windowOf(server.end())
    expect(renewEnd(window, server.end())).toBe(window)
    server.append('new')
    const next = renew(server, window)
    expect(next.entries[0]).toBe(window.entries[0])
    expect(next.entries).toHaveLength(pageSize + 1)
  })

  it('grows at its end without repeating what it has', () => {
    const server = createServer(12)
    let window = windowOf(server.from(0))
    while (window.nextToken !== undefined) {
      window = addLater(window, server.behind(window.nextToken))
    }
    expect(window.entries).toEqual(server.entries)
  })
})
