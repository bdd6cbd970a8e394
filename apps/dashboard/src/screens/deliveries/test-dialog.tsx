import { useState } from 'react'
import { useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { BotField } from '../../ui/bot-select.js'
import { curlOf } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { Form, TextField } from '../../ui/form.js'
import { JsonField } from '../../ui/json-field.js'
import { objectIn, requireObject } from '../../ui/json-text.js'
import { Status } from '../../ui/status.js'
import { describeDuration } from '../../ui/time.js'
import styles from './deliveries.module.css'
import { useDeliveryActions } from './queries.js'

type Result = Awaited<ReturnType<ReturnType<typeof useDeliveryActions>['test']>>

/** Sends an event to a bot that is not stored, and shows what the bot returned. */
export function TestDialog({ onClose }: { onClose: () => void }) {
  const scope = useScope()
  const { bots } = useBotNames()
  const { test } = useDeliveryActions()
  const [chosen, choose] = useState(scope.botId)
  const [type, setType] = useState('test')
  const [payload, setPayload] = useState('{}')
  const [result, setResult] = useState<Result>()
  const isPayload = objectIn(payload) !== undefined
  const botId = chosen ?? bots[0]?.id ?? ''
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      <p>
        The call is signed like every other one and made at once, also while deliveries are paused.
        The event is not stored.
      </p>
      <Form
        submit="Send"
        isDisabled={botId === ''}
        onSubmit={async () => {
          setResult(undefined)
          setResult(await test(botId, type, requireObject(payload, 'The payload')))
        }}
      >
        {(faultOf) => (
          <>
            <BotField botId={botId} onChange={choose} />
            <TextField
              label="Type of the event"
              required
              maxLength={200}
              error={faultOf('type')}
              value={type}
              onChange={({ target }) => setType(target.value)}
            />
            <JsonField
              label="Payload"
              hint="A JSON object."
              error={faultOf('payload') ?? (isPayload ? undefined : 'This is not a JSON object.')}
              value={payload}
              onChange={setPayload}
            />
          </>
        )}
      </Form>
      {result !== undefined && (
        <div role="status" className={styles.result}>
          <Status kind={result.delivered ? 'done' : 'attention'}>
            {result.delivered ? 'Accepted' : 'Not accepted'}
          </Status>{' '}
          after {describeDuration(result.durationMs)}
          {result.status !== undefined && `, status ${result.status}`}
          {result.error !== undefined && <p>{result.error}</p>}
          {result.answer !== undefined && result.answer !== '' && <pre>{result.answer}</pre>}
        </div>
      )}
      <div>
        <CopyButton
          what="the call of this test"
          text={curlOf({
            method: 'POST',
            path: `/v1/admin/bots/${botId}/deliveries/test`,
            workspaceId: scope.workspaceId,
            body: { type, payload: objectIn(payload) ?? {} },
          })}
        >
          Copy as curl
        </CopyButton>
      </div>
    </Dialog>
  )
}
