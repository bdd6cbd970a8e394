import { contract, messagePayloads } from '@botstead/contract'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'

const validate = new Ajv({ discriminator: true }).compile(contract.chat.createMessage.body)

/** Errors of a message with this payload, as `<where> <rule>`; undefined if it is valid. */
function complaintAbout(payload: unknown): string | undefined {
  if (validate({ conversationId: 'conv_1', payload })) return undefined
  return validate.errors?.map((error) => `${error.instancePath} ${error.message}`).join(', ')
}

const card = { type: 'card', title: 'Tea', actions: [{ action: 'say', label: 'Yes', value: 'y' }] }
const options = [{ label: 'Tea', value: 'tea' }]

describe('message payloads', () => {
  it.each([
    { type: 'text', text: 'hi' },
    { type: 'markdown', markdown: '*hi*' },
    { type: 'image', imageUrl: 'not a url' },
    { type: 'audio', audioUrl: 'https://x.test/a.ogg' },
    { type: 'video', videoUrl: 'https://x.test/a.mp4' },
    { type: 'file', fileUrl: 'https://x.test/a.pdf' },
    { type: 'file', fileUrl: 'https://x.test/a.pdf', title: 'A' },
    { type: 'location', latitude: 1000, longitude: -0.5, address: '', title: '' },
    card,
    { ...card, subtitle: 'Green', imageUrl: 'https://x.test/a.png', actions: [] },
    { type: 'carousel', items: [card] },
    { type: 'carousel', items: [] },
    { type: 'choice', text: 'Which?', options },
    { type: 'dropdown', text: 'Which?', options: [] },
    { type: 'bloc', items: [] },
    {
      type: 'bloc',
      items: [
        { type: 'text', text: 'a' },
        { type: 'audio', audioUrl: 'b' },
      ],
    },
    { type: 'text', text: 'hi', more: { of: ['anything'] } },
    { type: 'carousel', items: [{ title: 'x', actions: [] }] },
  ])('accepts $type: %o', (payload) => {
    expect(complaintAbout(payload)).toBeUndefined()
  })

  it.each([
    [{ type: 'text' }, "/payload must have required property 'text'"],
    [{ type: 'text', text: '' }, '/payload/text must NOT have fewer than 1 characters'],
    [{ type: 'text', text: 1 }, '/payload/text must be string'],
    [{ type: 'audio', text: 'x' }, "/payload must have required property 'audioUrl'"],
    [{ type: 'file', fileUrl: 'x', title: '' }, '/payload/title must NOT have fewer than 1'],
    [{ type: 'location', latitude: '1', longitude: 2 }, '/payload/latitude must be number'],
    [{ ...card, subtitle: '' }, '/payload/subtitle must NOT have fewer than 1'],
    [{ ...card, actions: [{ action: 'dance' }] }, '/payload/actions/0 must have required'],
    [{ type: 'carousel', items: [{ actions: [] }] }, "items/0 must have required property 'title'"],
    [{ type: 'carousel', items: [{ ...card, type: 'text' }] }, '/payload/items/0/type must be'],
    [{ type: 'choice', text: 'x', options: [{ label: '', value: 'x' }] }, 'options/0/label must'],
    [{ type: 'dropdown', text: 'x' }, "/payload must have required property 'options'"],
    [{ type: 'bloc', items: [card] }, '/payload/items/0/type must be equal to one of'],
    [
      { type: 'bloc', items: [{ type: 'audio' }] },
      "/payload/items/0 must have required property 'audioUrl'",
    ],
    [{ type: 'poem' }, '/payload/type must be equal to one of'],
    [{}, "/payload must have required property 'type'"],
    [{ type: 7 }, '/payload/type must be string'],
    ['text', '/payload must be object'],
    [null, '/payload must be object'],
    [[], '/payload must be object'],
  ])('refuses %j and says where', (payload, complaint) => {
    expect(complaintAbout(payload)).toContain(complaint)
  })

  it('has a schema of its own for every type', () => {
    const validators = Object.entries(messagePayloads).map(
      ([type, schema]) => [type, new Ajv({ discriminator: true }).compile(schema)] as const,
    )
    for (const [type, accepts] of validators) {
      const others = validators.filter(([other]) => other !== type).map(([other]) => other)
      expect(accepts({ ...sample[type], type })).toBe(true)
      for (const other of others) expect(accepts({ ...sample[type], type: other })).toBe(false)
    }
  })
})

/** Members that satisfy a type, without the type itself. */
const sample: Record<string, object> = {
  text: { text: 'x' },
  markdown: { markdown: 'x' },
  image: { imageUrl: 'x' },
  audio: { audioUrl: 'x' },
  video: { videoUrl: 'x' },
  file: { fileUrl: 'x' },
  location: { latitude: 1, longitude: 2 },
  card: { title: 'x', actions: [] },
  carousel: { items: [] },
  choice: { text: 'x', options: [] },
  dropdown: { text: 'x', options: [] },
  bloc: { items: [] },
}
