import { useState } from 'react'
import { useScope } from '../../../api/address.js'
import { botstead } from '../../../ui/commands.js'
import { Dialog } from '../../../ui/dialog.js'
import { CheckField, Form, TextArea, TextField } from '../../../ui/form.js'
import { formatBytes, formatNumber } from '../../../ui/numbers.js'
import { useRemembered } from '../../../ui/remembered.js'
import { tagsOf } from '../../../ui/tags.js'
import { type Chosen, chosenMaximum } from './chosen.js'
import { startUploads } from './uploads.js'
import styles from './uploads.module.css'

/** Maximum number of chosen files that are listed. */
const listed = 8

interface UploadDialogProps {
  /** The chosen or dropped files; the dialog takes no more than the maximum. */
  chosen: readonly Chosen[]
  /** Folder of the list. */
  prefix: string
  onClose: () => void
}

/** Asks for the folder of the chosen files, and starts the uploads. */
export function UploadDialog({ chosen: all, prefix, onClose }: UploadDialogProps) {
  const { botId = '' } = useScope()
  const [folder, setFolder] = useState(prefix)
  const [isIndexed, setIndexed] = useRemembered('uploads are searchable', true)
  const [allowsPartial, setAllowsPartial] = useState(false)
  const [tags, setTags] = useState('')
  const start = folder === '' || folder.endsWith('/') ? folder : `${folder}/`
  const chosen = all.slice(0, chosenMaximum)
  const bytes = chosen.reduce((sum, { content }) => sum + content.size, 0)
  const what = chosen.length === 1 ? '1 file' : `${formatNumber(chosen.length)} files`
  return (
    <Dialog title={`Upload ${what} (${formatBytes(bytes)})`} onClose={onClose}>
      <Form
        submit={`Upload ${what}`}
        onSubmit={async () => {
          const indexing = { configuration: { parsing: { allowPartial: true } } } as const
          const plan = {
            botId,
            index: isIndexed,
            tags: tagsOf(tags),
            ...(isIndexed && allowsPartial && { indexing }),
          }
          startUploads(
            chosen.map(({ path, content }) => ({
              content,
              plan: { ...plan, key: start + path, size: content.size },
            })),
          )
          onClose()
        }}
      >
        {() => (
          <>
            <TextField
              label="Folder"
              placeholder="handbook/"
              hint="Prefix of the keys; empty for none."
              value={folder}
              onChange={(event) => setFolder(event.target.value)}
            />
            <ul className={styles.keys} aria-label="Keys">
              {chosen.slice(0, listed).map(({ path, content }) => (
                <li key={path}>
                  <code>{start + path}</code>
                  <span className="muted">{formatBytes(content.size)}</span>
                </li>
              ))}
              {chosen.length > listed && (
                <li className="muted">and {formatNumber(chosen.length - listed)} more</li>
              )}
            </ul>
            {all.length > chosen.length && (
              <p>
                Only {formatNumber(chosenMaximum)} files are taken at once. For whole folders there
                is <code>{botstead(['files', 'sync', './handbook'], botId)}</code>.
              </p>
            )}
            <CheckField
              label="Searchable"
              hint="The contents are split into passages, which search finds."
              checked={isIndexed}
              onChange={(event) => setIndexed(event.target.checked)}
            />
            {isIndexed && (
              <CheckField
                label="Index even if most of a document cannot be read"
                hint="Otherwise the indexing of such a document fails. One without any text, such as a scan, fails in any case."
                checked={allowsPartial}
                onChange={(event) => setAllowsPartial(event.target.checked)}
              />
            )}
            <TextArea
              label="Tags"
              rows={2}
              hint="One in each line, such as team: office."
              value={tags}
              onChange={(event) => setTags(event.target.value)}
            />
            <p className="muted">
              A file that has one of these keys already is replaced; its content stays until the new
              one is complete.
            </p>
          </>
        )}
      </Form>
    </Dialog>
  )
}
