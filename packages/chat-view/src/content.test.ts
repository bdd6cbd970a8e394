import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaIn, readContent, textOf, toText } from './content.js'

describe('a payload is read as content', () => {
  it('of its type, with the members that the type has', () => {
    expect(readContent({ type: 'text', text: 'Hello' })).toEqual({
      kind: 'markdown',
      text: 'Hello',
    })
    expect(
      readContent({ type: 'dropdown', text: 'Which?', options: [{ label: 'A', value: 1 }, {}] }),
    ).toEqual({
      kind: 'options',
      isDropdown: true,
      text: 'Which?',
      options: [{ label: 'A', value: 1 }],
    })
    const actions = [{ action: 'url', label: 'Open', value: 'https://example.com' }, { label: 7 }]
    expect(readContent({ type: 'carousel', items: [{ title: 'One', actions }] })).toEqual({
      kind: 'carousel',
      cards: [
        {
          kind: 'card',
          title: 'One',
          subtitle: undefined,
          imageUrl: undefined,
          actions: [{ label: 'Open', value: 'https://example.com', opensUrl: true }],
        },
      ],
    })
  })

  it('in the parts of a bloc, whose members are beside the type or below `payload`', () => {
    const items = [
      { type: 'image', imageUrl: 'https://example.com/1.png' },
      { type: 'text', payload: { text: 'Below' } },
    ]
    expect(readContent({ type: 'bloc', items })).toMatchObject({
      parts: [{ kind: 'media' }, { kind: 'markdown', text: 'Below' }],
    })
    expect(mediaIn({ type: 'bloc', items })).toHaveLength(1)
    expect(textOf({ type: 'bloc', items })).toBe('Below')
  })

  it('as unknown, with the text that it has, if its type is unknown or its members are missing', () => {
    const payload = { type: 'custom://x', data: { text: 'Said' } }
    expect(readContent(payload)).toEqual({ kind: 'unknown', text: 'Said', payload })
    for (const type of ['text', 'image', 'location', 'card', 'carousel', 'choice', 'bloc']) {
      expect(readContent({ type }), type).toMatchObject({ kind: 'unknown', text: undefined })
    }
  })

  it('in bounded depth', () => {
    let payload: { type: string } & Record<string, unknown> = { type: 'text', text: 'Deep' }
    for (let level = 0; level < 20_000; level++) payload = { type: 'bloc', items: [payload] }
    expect(textOf(payload)).toBeUndefined()
  })

  it('with members that are named as methods', () => {
    const value = { toString: 1, valueOf: 1, toJSON: 1 }
    const items = [{ type: value, text: 'Said' }]
    expect(readContent({ type: 'bloc', items })).toMatchObject({
      parts: [{ kind: 'unknown', text: 'Said' }],
    })
    expect(textOf({ type: 'bloc', items })).toBe('Said')
    expect(toText(value)).toBe('{"toString":1,"valueOf":1,"toJSON":1}')
    expect([toText('yes'), toText(7), toText(undefined)]).toEqual(['yes', '7', ''])
  })

  it('whatever a bot sends', () => {
    const types = ['text', 'markdown', 'image', 'audio', 'video', 'file', 'location', 'card']
    const type = fc.constantFrom(...types, 'carousel', 'choice', 'dropdown', 'bloc', 'other')
    const names = ['text', 'markdown', 'title', 'items', 'options', 'actions', 'label', 'imageUrl']
    const { payload } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('payload'), { maxLength: 3 }),
      ),
      payload: fc
        .tuple(type, fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }))
        .map(([type, members]) => ({ ...members, type })),
    }))
    fc.assert(
      fc.property(payload, (given) => {
        const content = readContent(given as { type: string })
        expect(content.kind).toBeTypeOf('string')
        const text = textOf(given as { type: string })
        expect(text === undefined || text !== '').toBe(true)
        for (const { url } of mediaIn(given as { type: string })) expect(url).not.toBe('')
      }),
    )
  })
})
