import { Keys } from '../../ui/keys.js'
import { Pane } from '../../ui/part.js'
import { BotSecrets } from './bot-secrets.js'
import { type Bot, useBotActions, useBotKeys } from './queries.js'

/** The keys and the secret of a bot. */
export function BotKeys({ bot }: { bot: Bot }) {
  const { createKey, removeKey, rotateSecret } = useBotActions()
  const { data, error, refetch } = useBotKeys(bot.id)
  return (
    <>
      <Keys
        of="bot"
        keys={data?.baks}
        error={error}
        refetch={refetch}
        create={(note) => createKey(bot.id, note)}
        revoke={removeKey}
        rotateSecret={() => rotateSecret(bot.id)}
      />
      <Pane>
        <BotSecrets bot={bot} />
      </Pane>
    </>
  )
}
