import { bytes, duration, either, integer, listOf, setting, text } from './setting-kinds.js'

const mediaType = text(
  'a media type such as image/png, image/* or none alone',
  /^[\w.+*-]+\/[\w.+*-]+$/,
)

/** Settings of chats. */
export const chatSettings = {
  chatKeyLifetime: setting(
    'BOTSTEAD_CHAT_KEY_LIFETIME',
    either(['none'], duration('1m', '3650d')),
    {
      default: 'none',
      meaning:
        'Lifetime of user keys that the server issues, including those issued before; none means unlimited.',
    },
  ),
  chatNewUsers: setting('BOTSTEAD_CHAT_NEW_USERS', either(['auto', 'off'], integer(1, 1_000_000)), {
    default: 'auto',
    meaning:
      'New users a minute of one chat per network address; auto means 60, and any number for callers on this machine.',
  }),
  chatUserMessages: setting(
    'BOTSTEAD_CHAT_USER_MESSAGES',
    either(['auto', 'off'], integer(1, 1_000_000)),
    {
      default: 'auto',
      meaning:
        'Messages and events a minute per chat user; auto means 120, and any number for callers on this machine.',
    },
  ),
  chatAddressMessages: setting(
    'BOTSTEAD_CHAT_ADDRESS_MESSAGES',
    either(['auto', 'off'], integer(1, 1_000_000)),
    {
      default: 'auto',
      meaning:
        'Messages and events a minute of one chat per network address; auto means 600, and any number for callers on this machine.',
    },
  ),
  chatUserFiles: setting(
    'BOTSTEAD_CHAT_USER_FILES',
    either(['auto', 'off'], integer(1, 1_000_000)),
    {
      default: 'auto',
      meaning:
        'Files a minute per chat user; auto means 20, and any number for callers on this machine.',
    },
  ),
  chatAddressFileBytes: setting(
    'BOTSTEAD_CHAT_ADDRESS_FILE_BYTES',
    either(['auto', 'off'], bytes('1KB', '1000TB')),
    {
      default: 'auto',
      meaning:
        'Bytes of files an hour that users of one chat may send from one network address, but always one file; auto means a tenth of BOTSTEAD_MAX_CHAT_FILES_BYTES, and any number for callers on this machine.',
    },
  ),
  chatFileTypes: setting('BOTSTEAD_CHAT_FILE_TYPES', either(['none'], listOf(mediaType)), {
    default:
      'image/*,audio/*,video/*,text/plain,text/csv,text/markdown,application/pdf,application/json,application/msword,application/vnd.*,application/zip',
    meaning:
      'Media types of files that chat users may send; `*` stands for any characters, and none alone for no files.',
  }),
}

/** Size limits for files of chat users. */
export const chatLimitSettings = {
  chatFileBytes: setting('BOTSTEAD_MAX_CHAT_FILE_BYTES', bytes('0', '5TiB'), {
    default: '25MiB',
    meaning: 'Content of one file of a chat user.',
  }),
  chatFilesBytes: setting('BOTSTEAD_MAX_CHAT_FILES_BYTES', bytes('0', '1000TB'), {
    default: '2GB',
    meaning: 'Content of all files that the chat users of a bot have sent and that are kept.',
  }),
}
