import { type Static, type TSchema, Type } from 'typebox'
import { OneOf, Text, Url } from './shared.js'

/** Maximum number of suggested questions. */
export const maxSuggestedQuestions = 8

/**
 * Appearance and features of the web chat of a bot. The script of a page, the share page and the editor of the
 * settings share this type; the names are those of `configuration` in existing web chats.
 */
export const WebchatSettings = Type.Object(
  {
    botName: Text(100, 'Name of the bot, shown as the title of the chat.'),
    botAvatar: Type.Optional(Url('Address of a picture of the bot.')),
    botDescription: Type.Optional(
      Text(500, 'Description of the bot, shown before the first message.'),
    ),
    color: Type.String({
      maxLength: 7,
      pattern: '^#[0-9a-fA-F]{6}$',
      description: 'Colour of the button and of own messages: `#` and six hexadecimal digits.',
    }),
    themeMode: OneOf(['light', 'dark', 'system'], 'Light, dark, or as the browser prefers.'),
    position: OneOf(['left', 'right'], 'Side of the page at which the button is.'),
    language: Type.Optional(
      Type.String({
        maxLength: 35,
        pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
        description:
          'Language of buttons and notes as a language tag, such as `de`; that of the browser if omitted.',
      }),
    ),
    greeting: Type.Optional(Text(2000, 'Text in Markdown, shown before the first message.')),
    suggestedQuestions: Type.Array(Text(200, 'Text that a press sends.', 1), {
      maxItems: maxSuggestedQuestions,
      description: `Questions to begin with, at most ${maxSuggestedQuestions}.`,
    }),
    composerPlaceholder: Type.Optional(Text(200, 'Text of the empty field for messages.')),
    footer: Type.Optional(Text(500, 'Text in Markdown below the field for messages.')),
    allowFileUpload: Type.Boolean({ description: 'Whether users can send files.' }),
    feedbackEnabled: Type.Boolean({ description: 'Whether users can rate messages of the bot.' }),
    conversationHistory: Type.Boolean({
      description: 'Whether users can open their earlier conversations.',
    }),
  },
  { title: 'WebchatSettings', description: 'Appearance and features of the web chat of a bot.' },
)

export type WebchatSettings = Static<typeof WebchatSettings>

const orUnset = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(
    Type.Union([schema, Type.Null()], {
      description: `${Reflect.get(schema, 'description')} \`null\` unsets it.`,
    }),
  )

const { properties } = WebchatSettings

/** A change of the settings: what is omitted stays, `null` unsets. */
export const WebchatSettingsPatch = Type.Object({
  botName: orUnset(Text(100, 'Name of the bot, shown as the title of the chat.', 1)),
  botAvatar: orUnset(properties.botAvatar),
  botDescription: orUnset(properties.botDescription),
  color: orUnset(properties.color),
  themeMode: orUnset(properties.themeMode),
  position: orUnset(properties.position),
  language: orUnset(properties.language),
  greeting: orUnset(properties.greeting),
  suggestedQuestions: orUnset(properties.suggestedQuestions),
  composerPlaceholder: orUnset(properties.composerPlaceholder),
  footer: orUnset(properties.footer),
  allowFileUpload: orUnset(properties.allowFileUpload),
  feedbackEnabled: orUnset(properties.feedbackEnabled),
  conversationHistory: orUnset(properties.conversationHistory),
})

/** The settings of a web chat that nobody has changed. */
export function defaultWebchatSettings(botName: string): WebchatSettings {
  return {
    botName: botName.slice(0, 100),
    color: '#0f5f73',
    themeMode: 'system',
    position: 'right',
    suggestedQuestions: [],
    allowFileUpload: true,
    feedbackEnabled: true,
    conversationHistory: true,
  }
}
