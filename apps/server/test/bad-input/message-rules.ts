import type { FieldRules } from './fields.js'
import { atMost, body, filled, items, members, oneOf, required } from './rules.js'
import { chatAddress, idempotencyKey } from './shared-rules.js'

const longest = 131_072

/** A required text that must not be empty. */
const text = [required, body.text, filled, atMost(longest)]
/** An optional text that must not be empty. */
const filledText = [body.text, filled, atMost(longest)]
const maybeEmptyText = [body.text, atMost(longest)]
const coordinate = [required, body.number]

const options = (type: string): FieldRules => ({
  [`body.payload<${type}>.text`]: text,
  [`body.payload<${type}>.options`]: [required, body.list, items(1000, { label: 'x', value: 'x' })],
  [`body.payload<${type}>.options.0`]: [body.object],
  [`body.payload<${type}>.options.0.label`]: text,
  [`body.payload<${type}>.options.0.value`]: text,
})

/** The members of a card, on its own or as an item of a carousel. */
const card = (place: string): FieldRules => ({
  [`${place}.title`]: text,
  [`${place}.subtitle`]: filledText,
  [`${place}.imageUrl`]: filledText,
  [`${place}.actions`]: [
    required,
    body.list,
    items(1000, { action: 'say', label: 'x', value: 'x' }),
  ],
  [`${place}.actions.0`]: [body.object],
  [`${place}.actions.0.action`]: [required, body.text, oneOf('postback', 'url', 'say')],
  [`${place}.actions.0.label`]: text,
  [`${place}.actions.0.value`]: text,
})

/** The payloads that can also be parts of a bloc. */
const parts = (place: string): FieldRules => ({
  [`${place}<text>.text`]: text,
  [`${place}<markdown>.markdown`]: text,
  [`${place}<image>.imageUrl`]: text,
  [`${place}<audio>.audioUrl`]: text,
  [`${place}<video>.videoUrl`]: text,
  [`${place}<file>.fileUrl`]: text,
  [`${place}<file>.title`]: filledText,
  [`${place}<location>.latitude`]: coordinate,
  [`${place}<location>.longitude`]: coordinate,
  [`${place}<location>.address`]: maybeEmptyText,
  [`${place}<location>.title`]: maybeEmptyText,
})

const partTypes = ['text', 'markdown', 'image', 'audio', 'video', 'file', 'location']

/** Every way to violate the creation of a message, with every type of payload. */
export const messageRules: FieldRules = {
  ...chatAddress,
  ...idempotencyKey,
  'body.clientMessageId': [body.text, filled, atMost(255)],
  'body.conversationId': [required, body.text, filled, atMost(128)],
  'body.metadata': [body.object, members(1000, 'x')],
  'body.payload': [required, body.object],
  'body.replyTo': [body.text, filled, atMost(128)],
  'body.payload.type': [
    required,
    body.text,
    oneOf(...partTypes, 'card', 'carousel', 'choice', 'dropdown', 'bloc'),
  ],
  ...parts('body.payload'),
  ...card('body.payload<card>'),
  'body.payload<carousel>.items': [
    required,
    body.list,
    items(1000, { type: 'card', title: 'x', actions: [] }),
  ],
  'body.payload<carousel>.items.0': [body.object],
  'body.payload<carousel>.items.0.type': [body.text, oneOf('card')],
  ...card('body.payload<carousel>.items.0'),
  ...options('choice'),
  ...options('dropdown'),
  'body.payload<bloc>.items': [required, body.list, items(1000, { type: 'text', text: 'x' })],
  'body.payload<bloc>.items.0': [body.object],
  'body.payload<bloc>.items.0.type': [required, body.text, oneOf(...partTypes)],
  ...parts('body.payload<bloc>.items.0'),
}
