import { expect, it } from 'vitest'
import { render } from './render.js'

it('writes every kind of payload as text', () => {
  const card = {
    type: 'card',
    title: 'Pump',
    subtitle: 'Green',
    imageUrl: 'https://example.com/p.png',
    actions: [
      { action: 'say', label: 'Buy', value: 'I buy the pump' },
      { action: 'url', label: 'Manual', value: 'https://example.com/m' },
      { action: 'postback', label: 'More', value: 'more' },
    ],
  }
  const cardText = [
    'Pump',
    'Green',
    '[image] https://example.com/p.png',
    '  1. Buy',
    '  - Manual: https://example.com/m',
    '  2. More',
  ].join('\n')
  const texts = [
    { type: 'text', text: 'a\r\nb' },
    { type: 'markdown', markdown: '**a**' },
    { type: 'audio', audioUrl: 'https://example.com/a.mp3' },
    { type: 'file', fileUrl: 'https://example.com/f', title: 'Report' },
    { type: 'location', latitude: 1.5, longitude: -2, title: '', address: 'Main Street 1' },
    {
      type: 'bloc',
      items: [
        { type: 'text', text: 'a' },
        { type: 'video', videoUrl: 'v' },
      ],
    },
    { type: 'poll', votes: 3 },
  ].map((payload) => render(payload).text)
  expect(texts).toEqual([
    'a\nb',
    '**a**',
    '[audio] https://example.com/a.mp3',
    '[file] Report https://example.com/f',
    '[location] Main Street 1 (1.5, -2)',
    'a\n[video] v',
    '[poll] {"votes":3}',
  ])
  expect(render(card)).toEqual({
    text: cardText,
    choices: [
      { label: 'Buy', value: 'I buy the pump' },
      { label: 'More', value: 'more' },
    ],
  })
  expect(render({ type: 'carousel', items: [card, { title: 'Valve' }] }).text).toBe(
    `${cardText}\n\nValve`,
  )
  expect(render({ type: 'choice', text: '?', options: 'none' })).toEqual({ text: '?', choices: [] })
})
