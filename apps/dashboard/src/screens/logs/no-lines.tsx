import { useAddressSearch } from '../../api/address.js'
import { serverUrl } from '../../api/client.js'
import { Button } from '../../ui/button.js'
import { anyBot, botInCode, curlOf } from '../../ui/commands.js'
import { Empty } from '../../ui/states.js'
import { filterFields } from './filter.js'

interface NoLinesProps {
  isFiltered: boolean
  botId: string | undefined
}

const line = { level: 'info', message: 'Looked up the order' }

/** Shown instead of an empty list: how to write a line, or how to see more of them. */
export function NoLines({ isFiltered, botId = anyBot }: NoLinesProps) {
  const [, change] = useAddressSearch()
  if (isFiltered) {
    return (
      <Empty
        action={
          <Button
            onClick={() =>
              change(Object.fromEntries(filterFields.map(({ id }) => [id, undefined])))
            }
          >
            Clear the filters
          </Button>
        }
      >
        No line matches all of these filters. A line that does appears here by itself.
      </Empty>
    )
  }
  return (
    <Empty
      calls={[
        {
          name: 'curl',
          text: curlOf({ method: 'POST', path: '/v1/chat/logs', botId, body: { logs: [line] } }),
        },
        {
          name: 'Client',
          text: `import { createClient } from '@botstead/contract'\n\nconst client = createClient({ baseUrl: '${serverUrl}', token, botId: '${botInCode(botId)}' })\nawait client.writeBotLogs({ logs: [${JSON.stringify(line)}] })`,
        },
      ]}
    >
      There is no line yet. Attempts at deliveries, the logs of integrations, and what your bot
      writes with one call appear here:
    </Empty>
  )
}
