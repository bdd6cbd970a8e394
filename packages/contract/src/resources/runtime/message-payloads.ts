import { type Static, type TLiteral, type TObject, Type } from 'typebox'
import { OneOf } from '../../shared.js'

/** Maximum characters of a string in a payload; a whole payload has at most as many bytes. */
export const maxPayloadBytes = 131_072

const filled = (description: string) =>
  Type.String({ minLength: 1, maxLength: maxPayloadBytes, description })
const maybeEmpty = (description: string) =>
  Type.Optional(Type.String({ maxLength: maxPayloadBytes, description }))
const kind = <const Name extends string>(name: Name) =>
  Type.Literal(name, { description: `Type of the message: \`${name}\`.` })

const listBounds = { maxItems: 1000 }

const Text = Type.Object(
  { type: kind('text'), text: filled('Text of the message; not empty.') },
  { title: 'TextPayload', description: 'A plain text.' },
)

const Markdown = Type.Object(
  { type: kind('markdown'), markdown: filled('Text of the message in Markdown; not empty.') },
  { title: 'MarkdownPayload', description: 'A formatted text.' },
)

const Image = Type.Object(
  { type: kind('image'), imageUrl: filled('URL of the image; not empty.') },
  { title: 'ImagePayload', description: 'An image.' },
)

const Audio = Type.Object(
  { type: kind('audio'), audioUrl: filled('URL of the audio file; not empty.') },
  { title: 'AudioPayload', description: 'An audio file.' },
)

const Video = Type.Object(
  { type: kind('video'), videoUrl: filled('URL of the video; not empty.') },
  { title: 'VideoPayload', description: 'A video.' },
)

const File = Type.Object(
  {
    type: kind('file'),
    fileUrl: filled('URL of the file; not empty.'),
    title: Type.Optional(filled('Display name; not empty.')),
  },
  { title: 'FilePayload', description: 'A file to download.' },
)

const Location = Type.Object(
  {
    type: kind('location'),
    latitude: Type.Number({ description: 'Latitude in degrees; positive is north.' }),
    longitude: Type.Number({ description: 'Longitude in degrees; positive is east.' }),
    address: maybeEmpty('Postal address; may be empty.'),
    title: maybeEmpty('Name of the location; may be empty.'),
  },
  { title: 'LocationPayload', description: 'A location.' },
)

const Card = Type.Object(
  {
    type: kind('card'),
    title: filled('Heading; not empty.'),
    subtitle: Type.Optional(filled('Line below the heading; not empty.')),
    imageUrl: Type.Optional(filled('URL of an image; not empty.')),
    actions: Type.Array(
      Type.Object(
        {
          action: OneOf(
            ['postback', 'url', 'say'],
            'Action of the button with `value`: send it to the bot, open it as a URL, or say it.',
          ),
          label: filled('Label of the button; not empty.'),
          value: filled('Text or URL that the button sends, opens or says; not empty.'),
        },
        { title: 'CardAction', description: 'One button.' },
      ),
      { ...listBounds, description: 'Buttons; may be empty, at most 1,000.' },
    ),
  },
  { title: 'CardPayload', description: 'A heading with an image and buttons.' },
)

const CarouselItem = Type.Object(
  { ...Card.properties, type: Type.Optional(kind('card')) },
  { title: 'CarouselItem', description: 'A card, with or without its `type`.' },
)

const Carousel = Type.Object(
  {
    type: kind('carousel'),
    items: Type.Array(CarouselItem, {
      ...listBounds,
      description: 'Cards; may be empty, at most 1,000.',
    }),
  },
  { title: 'CarouselPayload', description: 'A carousel of cards.' },
)

const options = Type.Array(
  Type.Object(
    {
      label: filled('Label of the option; not empty.'),
      value: filled('Text that the option sends when it is chosen; not empty.'),
    },
    { title: 'ChoiceOption', description: 'One option.' },
  ),
  { ...listBounds, description: 'Options; may be empty, at most 1,000.' },
)

const Choice = Type.Object(
  { type: kind('choice'), text: filled('Text of the question; not empty.'), options },
  { title: 'ChoicePayload', description: 'A question with options as buttons.' },
)

const Dropdown = Type.Object(
  { type: kind('dropdown'), text: filled('Text of the question; not empty.'), options },
  { title: 'DropdownPayload', description: 'A question with options in a dropdown list.' },
)

/**
 * One of several objects distinguished by `type`. Written as `oneOf` with `discriminator`, which is
 * the form of OpenAPI. In validators that support the keyword (Ajv: `discriminator: true`), an
 * error then names the field of the chosen object instead of reporting that nothing matched. The
 * types are also listed first, so that the error for an unknown type lists the known ones.
 */
const byType = <Members extends readonly TObject<{ type: TLiteral<string> }>[]>(
  members: Members,
  options: { title: string; description: string },
) =>
  Type.Unsafe<Static<Members[number]>>({
    type: 'object',
    required: ['type'],
    properties: {
      type: OneOf(
        members.map((member) => member.properties.type.const),
        'Selects one of the alternatives.',
      ),
    },
    discriminator: { propertyName: 'type' },
    oneOf: members,
    ...options,
  })

const parts = [Text, Markdown, Image, Audio, Video, File, Location] as const

/** The content of a part beside its type, as bots and web chats send it. */
const withoutType = (part: (typeof parts)[number]) =>
  Type.Object(
    Object.fromEntries(Object.entries(part.properties).filter(([name]) => name !== 'type')),
    { additionalProperties: true, description: 'Content of the part.' },
  )

const NestedPart = {
  type: 'object',
  required: ['type', 'payload'],
  properties: {
    type: OneOf(
      parts.map((part) => part.properties.type.const),
      'Type of the part.',
    ),
  },
  // One rule per type names the member that is wrong; alternatives would only say that none fits.
  allOf: parts.map((part) => ({
    if: { type: 'object', properties: { type: { const: part.properties.type.const } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { type: 'object', properties: { payload: withoutType(part) } },
  })),
}

const FlatPart = byType(parts, { title: 'BlocPart', description: 'One part of the message.' })

/** A part with its content beside the type, or below `payload` as web chats send it. */
const BlocItem = Type.Unsafe<
  Static<typeof FlatPart> | { type: string; payload: Record<string, unknown> }
>({
  title: 'BlocItem',
  description: 'One part of the message: `{ type, ...content }` or `{ type, payload: content }`.',
  type: 'object',
  if: { type: 'object', properties: { payload: { type: 'object' } }, required: ['payload'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: NestedPart,
  else: FlatPart,
})

const Bloc = Type.Object(
  {
    type: kind('bloc'),
    items: Type.Array(BlocItem, {
      ...listBounds,
      description: 'Parts in order; may be empty, at most 1,000.',
    }),
  },
  { title: 'BlocPayload', description: 'Several contents in one message.' },
)

/** The schema of each type of payload, by the value of `type`. */
export const messagePayloads = {
  text: Text,
  markdown: Markdown,
  image: Image,
  audio: Audio,
  video: Video,
  file: File,
  location: Location,
  card: Card,
  carousel: Carousel,
  choice: Choice,
  dropdown: Dropdown,
  bloc: Bloc,
} as const

/** A payload that a chat user may send. Undeclared fields are kept. */
export const MessagePayload = byType(
  [
    Text,
    Markdown,
    Image,
    Audio,
    Video,
    File,
    Location,
    Card,
    Carousel,
    Choice,
    Dropdown,
    Bloc,
  ] as const,
  {
    title: 'MessagePayload',
    description:
      'Content of a message; `type` selects its form. Additional fields are kept. At most 131,072 bytes.',
  },
)
export type MessagePayload = Static<typeof MessagePayload>
