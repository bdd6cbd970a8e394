import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { serverUrl } from '../../api/client.js'
import { Button } from '../../ui/button.js'
import { anyBot, botInCode, curlOf } from '../../ui/commands.js'
import { DataTable } from '../../ui/data-table.js'
import { Filters } from '../../ui/filters.js'
import { NewItems } from '../../ui/new-items.js'
import { formatNumber } from '../../ui/numbers.js'
import { Page, Split } from '../../ui/page.js'
import { Empty } from '../../ui/states.js'
import { columnsOf } from './columns.js'
import { ConversationDetail } from './conversation-detail.js'
import { ExportDialog } from './export-dialog.js'
import { filterFieldsOf, ofOpenItem, useConversationFilter } from './filter.js'
import { useConversations, useNews, usePrefetchConversation } from './queries.js'

/** The conversations of the workspace, and the open one. */
export function ConversationsScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { botId } = useScope()
  const [search] = useAddressSearch()
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const { bots, nameOf } = useBotNames()
  const filter = useConversationFilter()
  const [isExporting, setExporting] = useState(false)
  const prefetch = usePrefetchConversation()
  const { query, conversations, total, firstToken } = useConversations(filter)
  const news = useNews(filter, firstToken)
  const columns = useMemo(() => columnsOf(nameOf, botId === undefined), [nameOf, botId])
  const fields = filterFieldsOf(botId)
  const isFiltered = fields.some(({ id }) => (search[id] ?? '') !== '')
  return (
    <Page
      title="Conversations"
      actions={
        <Button icon={<Download size={14} />} onClick={() => setExporting(true)}>
          Export
        </Button>
      }
    >
      {isExporting && (
        <ExportDialog
          filter={filter}
          what={describeTotal(total)}
          onClose={() => setExporting(false)}
        />
      )}
      <Split
        list={
          <>
            <Filters fields={fields} search="text" />
            <NewItems
              count={news}
              isMore={news >= 100}
              isListEmpty={conversations.length === 0}
              onShow={() => void query.refetch()}
            />
            <DataTable
              label="Conversations"
              columns={columns}
              rows={conversations}
              idOf={({ id }) => id}
              linkOf={({ id }) => ({ to: pathTo('conversations', id), search: ofOpenItem })}
              currentId={item}
              prefetch={prefetch}
              query={query}
              total={total}
              empty={
                isFiltered ? (
                  <Empty
                    action={
                      <Button onClick={() => void navigate({ to: '.', search: {} })}>
                        Clear the filters
                      </Button>
                    }
                  >
                    No conversation matches all of these filters.
                  </Empty>
                ) : (
                  <NoConversation botId={botId ?? bots[0]?.id} />
                )
              }
            />
          </>
        }
        detail={
          item === undefined ? undefined : (
            <ConversationDetail key={item} id={item} filter={filter} />
          )
        }
      />
    </Page>
  )
}

/** The number of matching conversations, in words. */
function describeTotal(total: { count: number; isAbout: boolean } | undefined): string {
  if (total === undefined) return 'the conversations that match'
  if (total.count === 1 && !total.isAbout) return 'the one conversation that matches'
  return `${total.isAbout ? 'about ' : ''}${formatNumber(total.count)} ${total.count === 1 ? 'conversation' : 'conversations'}`
}

function NoConversation({ botId = anyBot }: { botId: string | undefined }) {
  const pathTo = usePathTo()
  return (
    <Empty
      action={<Link to={pathTo('try')}>Write to a bot</Link>}
      calls={[
        {
          name: 'curl',
          text: curlOf({
            method: 'POST',
            path: '/v1/chat/conversations',
            botId,
            body: { channel: 'channel', tags: {} },
          }),
        },
        {
          name: 'Client',
          text: `import { createClient } from '@botstead/contract'\n\nconst client = createClient({ baseUrl: '${serverUrl}', token, botId: '${botInCode(botId)}' })\nawait client.createConversation({ channel: 'channel', tags: {} })`,
        },
      ]}
    >
      There is no conversation yet. One begins when a person writes to a bot, in the chat or through
      an integration, or when the bot creates one.
    </Empty>
  )
}
