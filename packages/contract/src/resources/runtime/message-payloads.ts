import { type Static, type TLiteral, type TObject, Type } from 'typebox'
import { OneOf } from '../../shared.js'

/** Longest string in a payload, in characters; a whole payload has at most as many bytes. */
export const maxPayloadBytes = 131_072

const filled = (description: string) =>
  Type.String({ minLength: 1, maxLength: maxPayloadBytes, description })
const maybeEmpty = (description: string) =>
  Type.Optional(Type.String({ maxLength: maxPayloadBytes, description }))
const kind = <const Name extends string>(name: Name) =>
  Type.Literal(name, { description: `Kind of the message: \`${name}\`.` })

const listBounds = { maxItems: 1000 }

const Text = Type.Object(
  { type: kind('text'), text: filled('What is said; not empty.') },
  { title: 'TextPayload', description: 'Plain text.' },
)

const Markdown = Type.Object(
  { type: kind('markdown'), markdown: filled('What is said, in Markdown; not empty.') },
  { title: 'MarkdownPayload', description: 'Formatted text.' },
)

const Image = Type.Object(
  { type: kind('image'), imageUrl: filled('Address of the image; not empty.') },
  { title: 'ImagePayload', description: 'An image.' },
)

const Audio = Type.Object(
  { type: kind('audio'), audioUrl: filled('Address of the recording; not empty.') },
  { title: 'AudioPayload', description: 'A sound.' },
)

const Video = Type.Object(
  { type: kind('video'), videoUrl: filled('Address of the film; not empty.') },
  { title: 'VideoPayload', description: 'A film.' },
)

const File = Type.Object(
  {
    type: kind('file'),
    fileUrl: filled('Address of the file; not empty.'),
    title: Type.Optional(filled('Name to show; not empty.')),
  },
  { title: 'FilePayload', description: 'A file to fetch.' },
)

const Location = Type.Object(
  {
    type: kind('location'),
    latitude: Type.Number({ description: 'Degrees north of the equator.' }),
    longitude: Type.Number({ description: 'Degrees east of Greenwich.' }),
    address: maybeEmpty('Postal address; may be empty.'),
    title: maybeEmpty('Name of the place; may be empty.'),
  },
  { title: 'LocationPayload', description: 'A place.' },
)

const Card = Type.Object(
  {
    type: kind('card'),
    title: filled('Heading; not empty.'),
    subtitle: Type.Optional(filled('Line below the heading; not empty.')),
    imageUrl: Type.Optional(filled('Address of an image; not empty.')),
    actions: Type.Array(
      Type.Object(
        {
          action: OneOf(
            ['postback', 'url', 'say'],
            'What pressing does: send `value` to the bot, open it, or say it.',
          ),
          label: filled('Text on the button; not empty.'),
          value: filled('What is sent, opened or said; not empty.'),
        },
        { title: 'CardAction', description: 'One button.' },
      ),
      { ...listBounds, description: 'Buttons; may be empty, at most 1,000.' },
    ),
  },
  { title: 'CardPayload', description: 'A heading with an image and buttons.' },
)

const Carousel = Type.Object(
  {
    type: kind('carousel'),
    items: Type.Array(Card, {
      ...listBounds,
      description: 'Cards, each with its `type`; may be empty, at most 1,000.',
    }),
  },
  { title: 'CarouselPayload', description: 'Cards side by side.' },
)

const options = Type.Array(
  Type.Object(
    {
      label: filled('Text of the option; not empty.'),
      value: filled('What is sent when it is chosen; not empty.'),
    },
    { title: 'ChoiceOption', description: 'One option.' },
  ),
  { ...listBounds, description: 'Options; may be empty, at most 1,000.' },
)

const Choice = Type.Object(
  { type: kind('choice'), text: filled('The question; not empty.'), options },
  { title: 'ChoicePayload', description: 'A question with options as buttons.' },
)

const Dropdown = Type.Object(
  { type: kind('dropdown'), text: filled('The question; not empty.'), options },
  { title: 'DropdownPayload', description: 'A question with options in a list.' },
)

/**
 * One of several objects told apart by `type`. Written as `oneOf` with `discriminator`, which is
 * OpenAPI's form and, in validators that know the keyword (Ajv: `discriminator: true`), makes an
 * error name the member of the chosen object instead of saying that nothing matched. The types are
 * listed once more in front, so that an unknown one is answered with the known ones.
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
        'Says which of the alternatives it is.',
      ),
    },
    discriminator: { propertyName: 'type' },
    oneOf: members,
    ...options,
  })

const Bloc = Type.Object(
  {
    type: kind('bloc'),
    items: Type.Array(
      byType([Text, Markdown, Image, Audio, Video, File, Location], {
        title: 'BlocItem',
        description: 'One part of the message.',
      }),
      { ...listBounds, description: 'Parts in order; may be empty, at most 1,000.' },
    ),
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

/** What a chat user may send. Members that are not declared are kept. */
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
      'Content of a message; `type` says which kind. Further members are kept. At most 131,072 bytes.',
  },
)
export type MessagePayload = Static<typeof MessagePayload>
