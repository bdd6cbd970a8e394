import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo } from '../../api/address.js'
import { DeleteByName } from '../../ui/delete-by-name.js'
import { CheckField, Form, TextArea, TextField } from '../../ui/form.js'
import { requireObject } from '../../ui/json-text.js'
import { fromLocal, toLocal } from '../../ui/local-time.js'
import { Pane } from '../../ui/part.js'
import { linesOf, removedOf, tagsOf } from '../../ui/tags.js'
import { note } from '../../ui/toasts.js'
import { partsOf } from './keys.js'
import { type File, useFileActions } from './queries.js'

const policies = [
  {
    id: 'public_content',
    label: 'Public content',
    hint: 'Anyone who knows the address can read the content.',
  },
  {
    id: 'integrations',
    label: 'Shared with integrations',
    hint: 'The integrations of the bot can read, list and search it.',
  },
] as const

/** The filters of the list, without the tab of the file. */
const withoutTab = (search: object) => ({ ...search, tab: undefined })

/** A form for the description of a file. Its content, key and type change only by another upload. */
export function FileSettings({ file }: { file: File }) {
  const { update, remove } = useFileActions()
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const [tags, setTags] = useState(linesOf(file.tags))
  const [metadata, setMetadata] = useState(JSON.stringify(file.metadata, undefined, 2))
  const [expiry, setExpiry] = useState(toLocal(file.expiresAt ?? ''))
  const [access, setAccess] = useState(file.accessPolicies)
  return (
    <Pane>
      <Form
        submit="Save"
        onSubmit={async () => {
          await update(file.id, {
            tags: { ...removedOf(file.tags), ...tagsOf(tags) },
            metadata: {
              ...removedOf(file.metadata),
              ...requireObject(metadata.trim() || '{}', 'The metadata'),
            },
            // The input has no seconds: an expiry that was not touched must stay as it is.
            ...(expiry !== toLocal(file.expiresAt ?? '') && {
              expiresAt: fromLocal(expiry) ?? null,
            }),
            accessPolicies: access,
          })
          note('The changes are saved.')
        }}
      >
        {(faultOf) => (
          <>
            <TextArea
              label="Tags"
              hint="One in each line, such as team: office. Searches and lists can be restricted to them."
              error={faultOf('tags')}
              value={tags}
              onChange={(event) => setTags(event.target.value)}
            />
            <TextArea
              label="Metadata"
              className="mono"
              rows={6}
              spellCheck={false}
              hint="A JSON object; search returns it with the passages."
              error={faultOf('metadata')}
              value={metadata}
              onChange={(event) => setMetadata(event.target.value)}
            />
            <TextField
              label="Expires"
              type="datetime-local"
              hint="Time at which the file is deleted, at most 90 days ahead; empty for never."
              error={faultOf('expiresAt')}
              value={expiry}
              onChange={(event) => setExpiry(event.target.value)}
            />
            {policies.map(({ id, label, hint }) => (
              <CheckField
                key={id}
                label={label}
                hint={hint}
                checked={access.includes(id)}
                onChange={(event) =>
                  setAccess(
                    event.target.checked
                      ? [...access, id]
                      : access.filter((policy) => policy !== id),
                  )
                }
              />
            ))}
          </>
        )}
      </Form>
      <DeleteByName
        what="file"
        name={partsOf(file.key).name}
        consequence="Its content and passages are deleted with it, for ever."
        remove={async () => {
          await remove([file.id])
          note(`${file.key} is deleted.`)
          void navigate({ to: pathTo('files'), search: withoutTab })
        }}
      />
    </Pane>
  )
}
