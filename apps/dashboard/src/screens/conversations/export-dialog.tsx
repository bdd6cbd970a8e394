import { useEffect, useRef, useState } from 'react'
import { useScope } from '../../api/address.js'
import { curlOf } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { CheckField, Form } from '../../ui/form.js'
import { formatBytes, formatNumber } from '../../ui/numbers.js'
import { save } from '../../ui/save.js'
import { note } from '../../ui/toasts.js'
import type { ConversationFilter } from './filter.js'
import { exportPath, useExport } from './queries.js'

interface ExportDialogProps {
  filter: ConversationFilter
  /** The exported objects in words, such as `about 12,400 conversations`. */
  what: string
  onClose: () => void
}

/** Saves what matches the filters as a file. Closing the dialog ends it. */
export function ExportDialog({ filter, what, onClose }: ExportDialogProps) {
  const { workspaceId } = useScope()
  const read = useExport()
  const [hasMessages, setHasMessages] = useState(true)
  const [bytes, setBytes] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const path = exportPath(filter, hasMessages)
  const run = async () => {
    const controller = new AbortController()
    stop.current = controller
    try {
      const { content, conversations } = await read(path, setBytes, controller.signal)
      save(content, `conversations-${new Date().toISOString().slice(0, 10)}.jsonl`)
      note(
        conversations === 1
          ? 'One conversation was exported.'
          : `${formatNumber(conversations)} conversations were exported.`,
      )
      onClose()
    } finally {
      setBytes(undefined)
    }
  }
  return (
    <Dialog title="Export conversations" onClose={onClose}>
      <p>{`Saves ${what} as lines of JSON, those first that were active first.`}</p>
      <Form onSubmit={run} submit="Export">
        {() => (
          <>
            <CheckField
              label="With their messages"
              hint="The messages of each conversation follow it, oldest first."
              checked={hasMessages}
              disabled={bytes !== undefined}
              onChange={({ target }) => setHasMessages(target.checked)}
            />
            {bytes !== undefined && (
              <p role="status" className="muted">{`${formatBytes(bytes)} so far`}</p>
            )}
          </>
        )}
      </Form>
      <CopyButton text={curlOf({ path, workspaceId })} what="the export as curl">
        Copy as curl
      </CopyButton>
    </Dialog>
  )
}
