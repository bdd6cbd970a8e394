import { optional, text, url } from './settings.js'

const serverAddress = url('an address such as https://bots.example.com', (given) =>
  /^https?:$/.test(given.protocol) && !given.search && !given.hash && !given.username
    ? given.href.replace(/\/+$/, '')
    : undefined,
)

/** What commands need that call a running server, such as `botstead files`; each has an option too. */
export const clientSettings = {
  url: optional('BOTSTEAD_URL', serverAddress, {
    default: 'the server of this folder',
    meaning: 'Server that commands such as "botstead files" call.',
  }),
  token: optional('BOTSTEAD_TOKEN', text('a token, without spaces', /^[!-~]+$/), {
    default: 'admin-token of the data folder, for a server on this machine',
    meaning: 'Token that those commands call with: personal, or the key of a bot.',
    secret: true,
  }),
  bot: optional('BOTSTEAD_BOT', text('the id or name of a bot'), {
    default: 'the only bot',
    meaning: 'Bot that those commands work on.',
  }),
}
