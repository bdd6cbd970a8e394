import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, Text, wrap } from '../../shared.js'
import { WebchatSettings, WebchatSettingsPatch } from '../../webchat-settings.js'

/** Maximum number of web sites that the chat of a bot is allowed on. */
export const maxAllowedOrigins = 50

const AllowedOrigins = Type.Array(
  Text(
    300,
    'Origin of a web site: scheme, host and, unless it is the default, port, such as `https://shop.example.com`. `https://*.example.com` stands for all subdomains of example.com, and not for example.com.',
    1,
  ),
  {
    maxItems: maxAllowedOrigins,
    description: `Web sites whose pages may use the chat, at most ${maxAllowedOrigins}; empty allows all. Pages of the server itself and programs, which send no \`Origin\`, always may.`,
  },
)

/** The web chat of a bot, as its workspace sees it. */
const BotWebchat = Type.Object(
  {
    settings: WebchatSettings,
    changed: Type.Array(Type.String({ description: 'Name of a setting.' }), {
      description: 'Names of the settings that were set; the others follow from the bot.',
    }),
    allowedOrigins: AllowedOrigins,
    shareUrl: Type.Optional(
      Type.String({
        description:
          'Address of a page with the chat alone; absent while the chat of the bot is switched off or removed.',
      }),
    ),
  },
  { title: 'BotWebchat', description: 'The web chat of a bot.' },
)

const botId = Type.Object({ id: Id('Id of the bot.') })

/** The web chat of a bot: its settings, the web sites that may use it, and what puts it on a page. */
export const botWebchat = {
  getCode: operation({
    id: 'getBotWebchat',
    method: 'GET',
    path: '/v1/admin/bots/{id}/webchat',
    tag: 'Bots',
    summary: 'Get what puts a web chat on a page',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    query: Type.Object({
      type: OneOf(
        ['preconfigured', 'configurable', 'fullscreen', 'sharableUrl'],
        '`preconfigured`: HTML that places a button, with the stored settings; `configurable`: HTML that contains the settings, to be changed there; `fullscreen`: HTML whose chat fills the page; `sharableUrl`: the address of a page with the chat alone.',
      ),
    }),
    response: json(Type.Object({ code: Type.String({ description: 'The HTML or the address.' }) })),
    errors: ['ResourceNotFound'],
  }),
  getSettings: operation({
    id: 'getBotWebchatSettings',
    method: 'GET',
    path: '/v1/admin/bots/{id}/webchat/settings',
    tag: 'Bots',
    summary: 'Get the settings of a web chat',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    response: json(wrap('webchat', BotWebchat)),
    errors: ['ResourceNotFound'],
  }),
  updateSettings: operation({
    id: 'updateBotWebchatSettings',
    method: 'PUT',
    path: '/v1/admin/bots/{id}/webchat/settings',
    tag: 'Bots',
    summary: 'Change the settings of a web chat',
    description:
      'Omitted settings stay; `null` makes a setting follow from the bot again. Pages have the change at their next load; the script of pages is kept by browsers for up to five minutes. Open streams of pages that are not allowed any more end at once.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: Type.Object({
      ...WebchatSettingsPatch.properties,
      allowedOrigins: Type.Optional(
        Type.Union([AllowedOrigins, Type.Null()], {
          description: `Replaces the list of web sites whose pages may use the chat, at most ${maxAllowedOrigins}; an empty list or \`null\` allows all.`,
        }),
      ),
    }),
    response: json(wrap('webchat', BotWebchat)),
    errors: ['ResourceNotFound'],
  }),
}
