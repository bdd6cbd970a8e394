import { expect, it } from 'vitest'
import { limitUnsentFrames } from './initialize.js'

const mebibyte = 2 ** 20

it('limits the first frames that wait, at each address and in all', () => {
  const { reserve } = limitUnsentFrames()
  const first = Array.from({ length: 32 }, () => reserve('a', mebibyte))
  expect(() => reserve('a', 1)).toThrow(/have not been received yet/)
  // Others are unaffected, and what was received or closed counts no more, also if that is reported twice.
  reserve('b', mebibyte)
  first[0]?.()
  first[0]?.()
  reserve('a', mebibyte)
  expect(() => reserve('a', 1)).toThrow(/have not been received yet/)
  for (let address = 0; address < 223; address++) reserve(`c${address}`, mebibyte)
  expect(() => reserve('d', 1)).toThrow(/have not been received yet/)
})
