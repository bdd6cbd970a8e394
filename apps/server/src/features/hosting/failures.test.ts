import { expect, it } from 'vitest'
import { createFailures } from './failures.js'

it('code that stopped pauses, but not for as long as a clock was wrong that is set back', () => {
  let now = 3_600_000
  const failures = createFailures({ now: () => now })
  failures.add('a', 'it ended')
  expect(() => failures.requireNoPause('a')).toThrow(/It is started again in 1 s\.$/)
  now -= 3_600_000
  failures.requireNoPause('a')
  failures.add('a', 'it ended')
  expect(() => failures.requireNoPause('a')).toThrow(/2 times in a row.*in 2 s\.$/)
  now += 2000
  failures.requireNoPause('a')
})
