import { useAddressSearch } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { anyBot, botstead, curlOf } from '../../ui/commands.js'
import { Empty } from '../../ui/states.js'
import { filterFields } from './filter.js'

interface NoDeliveriesProps {
  isFiltered: boolean
  workspaceId: string
  botId: string | undefined
}

/** Shown instead of an empty list: how to make a delivery, or how to see more of them. */
export function NoDeliveries({ isFiltered, workspaceId, botId = anyBot }: NoDeliveriesProps) {
  const [, change] = useAddressSearch()
  if (isFiltered) {
    const none = Object.fromEntries(filterFields.map(({ id }) => [id, undefined]))
    return (
      <Empty
        action={
          <Button onClick={() => change({ ...none, status: undefined })}>Clear the filters</Button>
        }
      >
        No delivery matches all of these filters.
      </Empty>
    )
  }
  return (
    <Empty
      action={<Button onClick={() => change({ dialog: 'test' })}>Send a test event</Button>}
      calls={[
        { name: 'Command', text: botstead(['chat'], botId) },
        {
          name: 'curl',
          text: curlOf({
            method: 'POST',
            path: `/v1/admin/bots/${botId}/deliveries/test`,
            workspaceId,
            body: { type: 'test', payload: {} },
          }),
        },
      ]}
    >
      There is no delivery yet. When somebody writes to a bot, the server calls its program, and
      every call appears here with its response. Write to a bot, or see whether its program can be
      reached:
    </Empty>
  )
}
