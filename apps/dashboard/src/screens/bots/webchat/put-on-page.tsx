import { useState } from 'react'
import { CopyButton } from '../../../ui/copy.js'
import { SelectField } from '../../../ui/form.js'
import { OutsideLink } from '../../../ui/outside-link.js'
import { Part } from '../../../ui/part.js'
import { Unread } from '../../../ui/states.js'
import { useWebchatCode } from '../queries.js'
import styles from './webchat.module.css'

type Kind = 'preconfigured' | 'configurable' | 'fullscreen'

const kinds: { value: Kind; label: string }[] = [
  { value: 'preconfigured', label: 'A button, with the settings above' },
  { value: 'configurable', label: 'A button, with settings in the page' },
  { value: 'fullscreen', label: 'The chat on the whole page' },
]

/** The link to share, and the code for a page. */
export function PutOnPage({ botId, shareUrl }: { botId: string; shareUrl: string }) {
  const [kind, setKind] = useState<Kind>('preconfigured')
  const { data, error, refetch } = useWebchatCode(botId, kind)
  return (
    <>
      <Part title="Link" hint="A page with the chat alone, for people without a page of their own.">
        <span className={styles.link}>
          <OutsideLink url={shareUrl} />
          <CopyButton text={shareUrl} what="link" />
        </span>
      </Part>
      <Part title="Code for a page" hint="Stands anywhere in the HTML of the page.">
        <SelectField
          label="What it shows"
          options={kinds}
          value={kind}
          onChange={({ target }) =>
            setKind(kinds.find(({ value }) => value === target.value)?.value ?? kind)
          }
        />
        {data === undefined ? (
          <Unread error={error} refetch={refetch} />
        ) : (
          <div className={styles.code}>
            <pre>{data.code}</pre>
            <CopyButton text={data.code} what="code">
              Copy
            </CopyButton>
          </div>
        )}
      </Part>
    </>
  )
}
