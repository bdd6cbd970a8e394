import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useScope } from '../../api/address.js'
import { read } from '../../api/queries.js'
import { curlOf } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { CheckField, Form, TextField } from '../../ui/form.js'
import { fromLocal, toLocal } from '../../ui/local-time.js'
import { formatNumber } from '../../ui/numbers.js'
import { note } from '../../ui/toasts.js'
import type { DeliveryFilter } from './filter.js'
import { useDeliveryActions } from './queries.js'

const statuses = [
  { status: 'failed', label: 'Failed', hint: 'Refused by the receiver, or given up.' },
  {
    status: 'delivered',
    label: 'Delivered',
    hint: 'The receiver accepted them, and gets them again.',
  },
  { status: 'canceled', label: 'Canceled', hint: 'Their message or event was deleted.' },
] as const

type ReplayableStatus = (typeof statuses)[number]['status']

interface ReplayDialogProps {
  /** The filter of the list; only deliveries in that list are replayed. */
  filter: DeliveryFilter
  status: ReplayableStatus
  onClose: () => void
}

/** Replays what the list shows, of some statuses and of a period, in the background. */
export function ReplayDialog({ filter, status, onClose }: ReplayDialogProps) {
  const { workspaceId } = useScope()
  const { replayMany } = useDeliveryActions()
  const [chosen, choose] = useState<readonly ReplayableStatus[]>([status])
  const [since, setSince] = useState(filter.since ?? '')
  const [until, setUntil] = useState(filter.until ?? '')
  const { since: _, until: __, ...rest } = filter
  const selection = {
    ...rest,
    status: [...chosen],
    ...(since !== '' && { since }),
    ...(until !== '' && { until }),
  }
  const { data } = useQuery(
    read({ workspaceId }, 'listWorkspaceDeliveries', { ...selection, pageSize: 1 }),
  )
  const counts = data?.counts
  const isEmpty = chosen.length === 0 || counts?.total === 0
  return (
    <Dialog title="Replay deliveries" onClose={onClose}>
      <p>
        All deliveries that match the filters of the list, oldest first. Each is signed again and
        has the same event id, so that a bot recognizes what it received before.
      </p>
      <Form
        submit={`Replay ${counts === undefined || chosen.length === 0 ? '' : `${counts.isExact ? '' : 'at least '}${formatNumber(counts.total)}`}`.trim()}
        isDisabled={isEmpty}
        onSubmit={async () => {
          await replayMany(selection)
          note('The replay has begun. It continues when you leave the page.')
          onClose()
        }}
      >
        {(faultOf) => (
          <>
            {statuses.map(({ status: name, label, hint }) => (
              <CheckField
                key={name}
                label={label}
                hint={hint}
                checked={chosen.includes(name)}
                onChange={({ target }) =>
                  choose(
                    target.checked ? [...chosen, name] : chosen.filter((other) => other !== name),
                  )
                }
              />
            ))}
            <MomentField
              label="Created since"
              value={since}
              change={setSince}
              error={faultOf('since')}
            />
            <MomentField
              label="Created before"
              value={until}
              change={setUntil}
              error={faultOf('until')}
            />
          </>
        )}
      </Form>
      <div>
        <CopyButton
          what="the call of this replay"
          text={curlOf({
            method: 'POST',
            path: '/v1/admin/delivery-replays',
            workspaceId,
            body: selection,
          })}
        >
          Copy as curl
        </CopyButton>
      </div>
    </Dialog>
  )
}

interface MomentFieldProps {
  label: string
  /** ISO 8601 time; empty for none. */
  value: string
  change: (value: string) => void
  error: string | undefined
}

function MomentField({ label, value, change, error }: MomentFieldProps) {
  return (
    <TextField
      type="datetime-local"
      label={label}
      error={error}
      value={toLocal(value)}
      onChange={({ target }) => change(fromLocal(target.value) ?? '')}
    />
  )
}
