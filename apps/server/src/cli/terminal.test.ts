import { pipeline } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { createOutput, paint } from './terminal.js'

/** The bytes that reach a terminal of twenty columns. */
function record() {
  let written = ''
  const write = (text: string) => {
    written += text
    return true
  }
  const stream = Object.assign(Object.create(process.stdout), { write, isTTY: true, columns: 20 })
  return { out: createOutput(stream), written: () => written }
}

it('lets through the styles of the command, not those of others', () => {
  const { out, written } = record()
  out.line('a\u001b[1mb ', paint('bold', 'c\u001b[0m\nd'))
  expect(written().split('\u001b')).toEqual(['a\\u001b[1mb ', '[1mc\\u001b[0m\\nd', '[22m\n'])
})

it('keeps the line of progress within the width, also with names in wide characters', () => {
  const { out, written } = record()
  out.redraw(`█░ ${'名'.repeat(30)}\u001b[2J`)
  expect(written()).toBe(`\r\u001b[2K█░ ${'名'.repeat(8)}`)
})

it('shows the content of a file on a terminal without its controls', async () => {
  const { out, written } = record()
  await pipeline([Buffer.from('a\u001b]0;b\u0007é\n')], out.forContent(), { end: false })
  expect(written()).toBe('a\\u001b]0;b\\u0007é\n')
})
