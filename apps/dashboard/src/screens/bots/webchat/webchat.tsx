import { useState } from 'react'
import { Pane } from '../../../ui/part.js'
import { Unread } from '../../../ui/states.js'
import { type BotWebchat, useWebchat } from '../queries.js'
import { AllowedSites } from './allowed-sites.js'
import { Preview } from './preview.js'
import { PutOnPage } from './put-on-page.js'
import { draftOf, settingsOf } from './settings-draft.js'
import { SettingsForm } from './settings-form.js'
import styles from './webchat.module.css'

/** The web chat of a bot: how it looks, what it looks like, and how it gets on a page. */
export function BotWebchatTab({ botId }: { botId: string }) {
  const { data, error, refetch } = useWebchat(botId)
  if (data === undefined) return <Unread error={error} refetch={refetch} />
  return <Webchat key={botId} botId={botId} webchat={data.webchat} />
}

function Webchat({ botId, webchat }: { botId: string; webchat: BotWebchat }) {
  const { shareUrl } = webchat
  const [draft, setDraft] = useState(() => draftOf(webchat.settings))
  return (
    <div className={styles.webchat}>
      <div className={styles.columns}>
        {shareUrl !== undefined && (
          <Preview webhookId={shareUrl.split('/').at(-1) ?? ''} settings={settingsOf(draft)} />
        )}
        <Pane>
          <SettingsForm botId={botId} webchat={webchat} draft={draft} setDraft={setDraft} />
          <AllowedSites botId={botId} allowedOrigins={webchat.allowedOrigins} />
          {shareUrl === undefined ? (
            <p className="muted">
              The chat of this bot is switched off: there is no address to share.
            </p>
          ) : (
            <PutOnPage botId={botId} shareUrl={shareUrl} />
          )}
        </Pane>
      </div>
    </div>
  )
}
